/** The control plane that uses the broker and the store directly. It needs no server. */

import type { App } from "../../compose/app.ts";
import type { Config } from "../../config/schema.ts";
import type { Caller } from "../../control/caller.ts";
import { getKnownJob, getLiveJob, type KnownJob } from "../../control/catalogue.ts";
import { controlJob } from "../../control/control-job.ts";
import { explainTarget } from "../../control/explain-target.ts";
import { type JobFilter, type JobPosition, listJobs } from "../../control/list-jobs.ts";
import { newKey } from "../../control/new-key.ts";
import { replayDead } from "../../control/replay-dead.ts";
import { queuesOut, siteOut } from "../../control/views/fleet.ts";
import { pointsOut } from "../../control/views/history.ts";
import { jobDetailOut, jobOut, jobSiteOut } from "../../control/views/job.ts";
import { webhookOut } from "../../control/views/webhook.ts";
import { SCOPES } from "../../domain/api-key.ts";
import { TrawlError } from "../../errors.ts";
import { readSpending } from "../../fetch/exit/spending.ts";
import type { DeadLetter } from "../../frontier/frontier-admin.ts";
import { sendWorkerCommand } from "../../frontier/worker-commands.ts";
import type { SubmissionSpan, Tracing } from "../../runtime/tracing.ts";
import type { Schedules } from "../../schedule/schedules.ts";
import { BUCKET_WIDTHS_MS, bucketStart } from "../../store/history-store.ts";
import type { Schedule } from "../../store/schedule-store.ts";
import type { Intake } from "../../submit/submit-urls.ts";
import { withCauses } from "../../trace/dead-causes.ts";
import {
  type ControlPlane,
  HISTORY_MS,
  type KeyControl,
  type ScheduleControl,
  withOtherSites,
} from "./control-plane.ts";

const EVERYTHING = 1_000_000_000;
const PAGE = 500;
const POLL_EVERY_MS = 200;

/** The person at the command line may see and do everything. */
const LOCAL_OPERATOR: Caller = { tenant: undefined, keyId: undefined, scopes: SCOPES };

export function createDirectPlane(trawl: App, config: Config): ControlPlane {
  const { frontier, store, clock } = trawl;
  const shown = (job: Parameters<typeof jobOut>[0]) => jobOut(job, clock.now());
  return {
    async findJob(id) {
      const job = await trawl.catalogue.find(id);
      if (job === undefined) return undefined;
      return jobDetailOut(job, await readSpending(frontier, id), clock.now());
    },
    listJobs: async (limit, filter) => (await findJobs(trawl, limit, filter)).map(shown),
    async controlJob(id, verb) {
      return shown(await controlJob(frontier, await getLiveJob(trawl.catalogue, id, `cli.${verb}`), verb));
    },
    async changeJob(id, change) {
      const { changeJob } = await import("../../control/change-job.ts");
      await changeJob(frontier, await getLiveJob(trawl.catalogue, id, "cli.change"), change);
      return shown(await getKnownJob(trawl.catalogue, id, "cli.change"));
    },
    deleteJob: (id, options) => deleteJob(trawl, id, options),
    listJobSites: async (job, limit) =>
      (await frontier.listJobSites(job.id, limit)).map((view) => jobSiteOut(view, job, clock.now())),
    async findWebhook(jobId) {
      const { findWebhookView } = await import("../../webhook/webhook-view.ts");
      const view = await findWebhookView({ webhooks: store.webhooks, frontier }, jobId);
      return view === undefined ? undefined : webhookOut(view);
    },
    listDead: async (filter, limit) => (await frontier.listDead(filter, limit)).map(inWholeMs),
    groupDead: async (filter, limit) => {
      const { groups } = await frontier.groupDead(filter, limit);
      return withCauses(frontier, filter, groups);
    },
    replayDead: (filter, perSecond) => replayDead(trawl, filter, { limit: EVERYTHING, perSecond }),
    discardDead: (filter) => frontier.discardDead(filter, EVERYTHING),
    explain: (target) => explainTarget(trawl, target, { maySee: undefined, visibility: "all" }),
    async trace(target) {
      const [{ jobsIn }, { trace }, { traceOut }] = await Promise.all([
        import("../../trace/find-traced.ts"),
        import("../../trace/trace.ts"),
        import("../../control/views/trace.ts"),
      ]);
      const visibility = "all" as const;
      const deps = { ...trawl, listJobs: () => jobsIn(trawl.catalogue), maySee: () => true, visibility };
      return traceOut(await trace(deps, target), { now: clock.now(), visibility });
    },
    listWorkers: () => frontier.listWorkers(),
    sendWorkerCommand: (name, command) => sendWorkerCommand(frontier, name, command),
    async listQueues() {
      const [queues, workers] = await Promise.all([frontier.listQueues(), frontier.listWorkers()]);
      return queuesOut(queues, workers);
    },
    async listTopSites(limit) {
      const sites = await withOtherSites(await frontier.listBusySites(limit), limit, () => frontier.listSites(limit));
      return sites.map((site) => siteOut(site, clock.now()));
    },
    async readHistory() {
      const [width] = BUCKET_WIDTHS_MS;
      const now = clock.now();
      const [from, to] = [bucketStart(now - HISTORY_MS, width), bucketStart(now, width) + width];
      return pointsOut(await store.history.read(width, from, to, (to - from) / width), from, to, width);
    },
    records: store,
    keys: createKeyControl(trawl),
    schedules: createScheduleControl(async () => {
      // Loaded on first use: the job schemas take long to load.
      const { composeSchedules } = await import("../../compose/schedules.ts");
      return composeSchedules(config, trawl).schedules;
    }),
    async openIntake({ spec, job, resume, key }) {
      const [{ createBrokerIntake, existingJobIntake }, { registerWebhook }] = await Promise.all([
        import("../../submit/broker-intake.ts"),
        import("../../webhook/register-webhook.ts"),
      ]);
      const { catalogue } = trawl;
      if (resume !== undefined) {
        return existingJobIntake(trawl, (await getLiveJob(catalogue, resume, "cli.submit")).spec);
      }
      const deps = {
        ...{ frontier, lookUp: catalogue.lookUp, now: clock.now, requestBodies: trawl.requestBodies },
        admit: async () => {},
        addWebhook: () => registerWebhook(store.webhooks, job.webhook, { jobId: spec.id, now: clock.now() }),
      };
      const intake = createBrokerIntake(deps, spec, key === undefined ? "never" : "key");
      return tracedIntake(await trawl.openTracing(), intake);
    },
    pollEveryMs: POLL_EVERY_MS,
  };
}

/**
 * Reads as many pages of the job list as needed. Unlike a server, this process has no other callers that would wait.
 */
async function findJobs(trawl: App, limit: number, filter: JobFilter): Promise<KnownJob[]> {
  const found: KnownJob[] = [];
  for (let after: JobPosition | undefined; ; ) {
    const { jobs, next } = await listJobs(trawl, LOCAL_OPERATOR, { ...filter, limit: limit - found.length, after });
    found.push(...jobs);
    if (next === undefined || found.length >= limit) return found;
    after = next;
  }
}

async function deleteJob(
  trawl: App,
  jobId: string,
  { cancel, signal }: { cancel: boolean; signal: AbortSignal },
): Promise<{ isWhole: boolean }> {
  const [{ cleanUp, markDeleted }, { retentionDeps }] = await Promise.all([
    import("../../retain/delete-job.ts"),
    import("../../compose/retention.ts"),
  ]);
  const deps = retentionDeps(trawl);
  const known = await trawl.catalogue.lookUp(jobId);
  // A job that is already deleted may have parts left to remove.
  if (known !== "deleted") await markDeleted(deps, await getKnownJob(trawl.catalogue, jobId, "cli.delete"), { cancel });
  return { isWhole: await cleanUp(deps, jobId, signal) };
}

/** Instants in whole milliseconds, as a server returns them. */
function inWholeMs({ diedAt, history, ...letter }: DeadLetter): DeadLetter {
  const whole = history.map(({ at, ...rest }) => ({ at: Math.floor(at), ...rest }));
  return { ...letter, diedAt: Math.floor(diedAt), history: whole };
}

/** Adds a span from `begin` to `seal`. */
function tracedIntake(tracing: Tracing, intake: Intake): Intake {
  if (!tracing.isOn) return intake;
  const { id, requestId } = intake.job;
  let submission: SubmissionSpan | undefined;
  return {
    ...intake,
    begin() {
      submission = tracing.submission(requestId, undefined, { "trawl.job.id": id });
      return intake.begin();
    },
    async seal() {
      await intake.seal();
      submission?.end({});
    },
  };
}

function createKeyControl({ store: { keys }, clock }: App): KeyControl {
  return {
    async list() {
      return allPages((last: { id: string } | undefined) => keys.list(PAGE, last?.id));
    },
    async add(draft) {
      const { key, secret } = newKey(draft, clock.now());
      await keys.add(key);
      const { hash, ...open } = key;
      return { key: { ...open, lastUsedAt: undefined, revokedAt: undefined }, secret };
    },
    async revoke(id) {
      const revoked = await keys.revoke(id, clock.now());
      if (revoked === undefined)
        throw new TrawlError("NOT_FOUND", { op: "cli.keys", message: `there is no key ${id}` });
      return revoked;
    },
  };
}

function createScheduleControl(open: () => Promise<Schedules>): ScheduleControl {
  /** Calls `work` with a schedule of any tenant. */
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
    next: (id, max) => on(id, (schedules, one) => schedules.next(one, max)),
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
