/** The control plane on broker and store themselves: no server has to run. */
import { explainTarget } from "../../api/explain-target.ts";
import { isFiltering, isOfOpen, type JobFilter, jobMatcher } from "../../api/job-filter.ts";
import { jobOut } from "../../api/job-out.ts";
import { jobSiteOut } from "../../api/job-site-out.ts";
import { newKey } from "../../api/keys/new-key.ts";
import { replayDead } from "../../api/replay-dead.ts";
import type { Trawl } from "../../compose.ts";
import type { Config } from "../../config/schema.ts";
import { TrawlError } from "../../errors.ts";
import type { DeadLetter } from "../../frontier/frontier-admin.ts";
import { orderWorkers } from "../../frontier/order-workers.ts";
import { getKnownJob, getLiveJob, type KnownJob } from "../../retain/catalogue.ts";
import type { Schedules } from "../../schedule/schedules.ts";
import type { Schedule } from "../../store/schedule-book.ts";
import type { JobSpec } from "../../submit/job-spec.ts";
import type { ControlPlane, KeyDesk, ScheduleDesk } from "./control-plane.ts";
import { fleetDesk } from "./fleet-desk.ts";
import { tracedIntake } from "./traced-intake.ts";

const EVERYTHING = 1_000_000_000;
const PAGE = 500;
const BATCH = 1_000;
const LOOK_EVERY_MS = 200;

export function createDirectPlane(trawl: Trawl, config: Config): ControlPlane {
  const { frontier, store, clock } = trawl;
  const shown = (job: Parameters<typeof jobOut>[0]) => jobOut(job, clock.now());
  return {
    async findJob(id) {
      const job = await trawl.catalogue.find(id);
      return job === undefined ? undefined : shown(job);
    },
    listJobs: async (limit, filter) => (await findJobs(trawl, limit, filter)).map(shown),
    async steer(id, verb) {
      await getLiveJob(trawl.catalogue, id, `cli.${verb}`);
      return shown(await frontier[verb](id));
    },
    async changeJob(id, change) {
      const { changeJob } = await import("../../api/change-job.ts");
      await changeJob(frontier, await getLiveJob(trawl.catalogue, id, "cli.change"), change);
      return shown(await getKnownJob(trawl.catalogue, id, "cli.change"));
    },
    deleteJob: (id, options) => deleteJob(trawl, id, options),
    listJobSites: async (job, limit) =>
      (await frontier.listJobSites(job.id, limit)).map((view) => jobSiteOut(view, job, clock.now())),
    async findWebhook(jobId) {
      const [{ findWebhookView }, { webhookOut }] = await Promise.all([
        import("../../webhook/webhook-view.ts"),
        import("../../api/wire-webhooks.ts"),
      ]);
      const view = await findWebhookView({ book: store.webhooks, frontier }, jobId);
      return view === undefined ? undefined : webhookOut(view);
    },
    listDead: async (filter, limit) => (await frontier.listDead(filter, limit)).map(inWholeMs),
    groupDead: async (filter, limit) => (await frontier.groupDead(filter, limit)).groups,
    replayDead: (filter, perSecond) => replayDead(trawl, filter, { limit: EVERYTHING, perSecond }),
    discardDead: (filter) => frontier.discardDead(filter, EVERYTHING),
    explain: (target) => explainTarget(trawl, target, { mayHear: undefined, hearing: "all" }),
    async trace(target) {
      const [{ jobsIn }, { trace }, { traceOut }] = await Promise.all([
        import("../../trace/find-traced.ts"),
        import("../../trace/trace.ts"),
        import("../../api/trace-out.ts"),
      ]);
      const hearing = "all" as const;
      const deps = { ...trawl, listJobs: () => jobsIn(trawl.catalogue), mayHear: () => true, hearing };
      return traceOut(await trace(deps, target), { now: clock.now(), hearing });
    },
    listWorkers: () => frontier.listWorkers(),
    orderWorkers: (name, order) => orderWorkers(frontier, name, order),
    ...fleetDesk(trawl),
    records: store,
    keys: createKeyDesk(trawl),
    schedules: createScheduleDesk(async () => {
      // Loaded on first use, as all that knows what jobs look like.
      const { composeSchedules } = await import("../../compose-schedules.ts");
      return composeSchedules(config, trawl).schedules;
    }),
    async openIntake({ spec: own, job, resume, key }) {
      const [{ frontierIntake }, { noteWebhook }, { withoutSecrets }] = await Promise.all([
        import("../../submit/frontier-intake.ts"),
        import("../../webhook/note-webhook.ts"),
        import("../../retain/archive-ended.ts"),
      ]);
      const { catalogue } = trawl;
      const known = resume === undefined ? undefined : await getLiveJob(catalogue, resume, "cli.submit");
      const spec = known === undefined ? own : (known.spec as JobSpec);
      const webhook = known === undefined ? job.webhook : undefined;
      const deps = {
        ...{ frontier, lookUp: catalogue.lookUp, asArchived: withoutSecrets<JobSpec>, now: clock.now },
        noteWebhook: () => noteWebhook(store.webhooks, webhook, { jobId: spec.id, now: clock.now() }),
      };
      const intake = frontierIntake(deps, spec, { batchMost: BATCH, isKeyed: key !== undefined });
      return known === undefined ? tracedIntake(await trawl.openTracing(), intake) : intake;
    },
    lookEveryMs: LOOK_EVERY_MS,
  };
}

/** All that there are are looked at, if need be: nobody else waits for this process. */
async function findJobs({ catalogue }: Trawl, limit: number, filter: JobFilter): Promise<KnownJob[]> {
  const isWanted = jobMatcher(filter);
  const step = isFiltering(filter) ? PAGE : limit;
  const list = isOfOpen(filter) ? catalogue.listOpen : catalogue.list;
  const found: KnownJob[] = [];
  for (let last: KnownJob | undefined; ; ) {
    const jobs = await list(step, last);
    found.push(...jobs.filter(isWanted));
    last = jobs.at(-1);
    if (jobs.length < step || found.length >= limit) return found.slice(0, limit);
  }
}

async function deleteJob(
  trawl: Trawl,
  jobId: string,
  { cancel, signal }: { cancel: boolean; signal: AbortSignal },
): Promise<{ isWhole: boolean }> {
  const [{ cleanUp, markDeleted }, { retentionDeps }] = await Promise.all([
    import("../../retain/delete-job.ts"),
    import("../../compose-retention.ts"),
  ]);
  const deps = retentionDeps(trawl);
  const known = await trawl.catalogue.lookUp(jobId);
  // One that was deleted already may have something left.
  if (known !== "deleted") await markDeleted(deps, await getKnownJob(trawl.catalogue, jobId, "cli.delete"), { cancel });
  return { isWhole: await cleanUp(deps, jobId, signal) };
}

/** As a server tells it. */
function inWholeMs({ diedAt, history, ...letter }: DeadLetter): DeadLetter {
  const whole = history.map(({ at, ...rest }) => ({ at: Math.floor(at), ...rest }));
  return { ...letter, diedAt: Math.floor(diedAt), history: whole };
}

function createKeyDesk({ store: { keys: book }, clock }: Trawl): KeyDesk {
  return {
    async list() {
      return allPages((last: { id: string } | undefined) => book.list(PAGE, last?.id));
    },
    async add(draft) {
      const { key, secret } = newKey(draft, clock.now());
      await book.add(key);
      const { hash, ...open } = key;
      return { key: { ...open, lastUsedAt: undefined, revokedAt: undefined }, secret };
    },
    async revoke(id) {
      const revoked = await book.revoke(id, clock.now());
      if (revoked === undefined)
        throw new TrawlError("NOT_FOUND", { op: "cli.keys", message: `there is no key ${id}` });
      return revoked;
    },
  };
}

function createScheduleDesk(open: () => Promise<Schedules>): ScheduleDesk {
  /** One schedule, whoever's it is. */
  async function on<T>(id: string, work: (schedules: Schedules, one: Schedule) => T): Promise<Awaited<T>> {
    const schedules = await open();
    return await work(schedules, await schedules.get(id, undefined));
  }

  return {
    async list() {
      const schedules = await open();
      return allPages((last: { id: string } | undefined) => schedules.list(undefined, PAGE, last?.id ?? ""));
    },
    get: (id) => on(id, (_, one) => one),
    add: async (input) => (await open()).add(input, undefined),
    pause: (id) => on(id, (schedules, one) => schedules.pause(one)),
    resume: (id) => on(id, (schedules, one) => schedules.resume(one)),
    runNow: (id) => on(id, (schedules, one) => schedules.runNow(one)),
    remove: (id) => on(id, (schedules, one) => schedules.remove(one)),
    next: (id, most) => on(id, (schedules, one) => schedules.next(one, most)),
    listRuns: (id, limit) => on(id, (schedules, one) => schedules.listRuns(one, limit, Number.MAX_SAFE_INTEGER)),
  };
}

async function allPages<T>(read: (last: T | undefined) => Promise<readonly T[]>): Promise<readonly T[]> {
  const all: T[] = [];
  for (;;) {
    const found = await read(all.at(-1));
    all.push(...found);
    if (found.length < PAGE) return all;
  }
}
