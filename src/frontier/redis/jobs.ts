/**
 * Jobs: their making, their end, and live changes (F11, F12). A change is one step on the job's home shard and then one
 * on each of the others (see home-word.ts), which lease calls obey at once; its lanes follow in steps of BATCH_MOST. A
 * crash between two leaves the job marked, and the next reaper goes on from there.
 *
 * createJobs is long because it is a list of operations on the same shards, each short.
 */
import { TrawlError } from "../../errors.ts";
import { BATCH_MOST, type NewJob } from "../frontier.ts";
import type { JobView, LimitChange } from "../frontier-admin.ts";
import { jobMissing, tooLateForLimits } from "../job-missing.ts";
import type { Reply, Word } from "./broker.ts";
import type { BrokerTime } from "./broker-time.ts";
import { createEndings, type Endings } from "./endings.ts";
import { createHomeWord } from "./home-word.ts";
import { addUp, type JobRow, readJobs, viewOf } from "./job-rows.ts";
import { allDone, type Shard, type Shards } from "./shards.ts";

export type Change =
  | { op: "pause" | "resume" | "cancel" }
  | { op: "priority"; priority: number }
  | { op: "policy"; policy: { intervalMs: number; burst: number; perSite: number } }
  | { op: "limits"; limits: LimitChange };

export type Jobs = Endings & {
  create(job: NewJob): Promise<void>;
  seal(jobId: string): Promise<boolean>;
  /** The job on all shards together. */
  find(jobId: string): Promise<JobRow | undefined>;
  view(row: JobRow): JobView;
  list(limit: number, before: number | undefined): Promise<JobView[]>;
  /** Newest first. */
  listOpen(limit: number, before: number | undefined): Promise<JobView[]>;
  /** The longest ended first. */
  listEnded(before: number, limit: number): Promise<JobView[]>;
  change(jobId: string, change: Change): Promise<JobView>;
  /** Ends jobs that are out of time and brings lanes into line, one step of it; false when there is nothing to do. */
  tidy(): Promise<boolean>;
  /** Opens ended jobs again; the answer is those that may take dead letters back. */
  reopen(jobIds: readonly string[]): Promise<string[]>;
  /** Takes some entries that have lapsed out of shared sets of seen URLs. */
  forgetLapsed(): Promise<void>;
  /** Goes on with changes that whoever made them has left behind half way. */
  carryOn(): Promise<void>;
};

type Deps = { shards: Shards; time: BrokerTime };

export function createJobs({ shards, time }: Deps): Jobs {
  const word = createHomeWord(shards);
  const endings = createEndings(shards, find, word);
  const view = (row: JobRow) => viewOf(row, time);

  async function find(jobId: string): Promise<JobRow | undefined> {
    const home = shards.home(jobId);
    const parts = await Promise.all(
      shards.all.map(async (shard) => ({ shard, row: readJobs(await shard.run("find-job", jobId, ""))[0] })),
    );
    const own = parts.find(({ shard }) => shard === home)?.row;
    return own === undefined
      ? undefined
      : addUp(
          own,
          parts.flatMap(({ row }) => (row === undefined ? [] : [row])),
        );
  }

  async function get(jobId: string, op: string): Promise<JobRow> {
    const row = await find(jobId);
    if (row === undefined) throw jobMissing(jobId, op);
    return row;
  }

  async function create(job: NewJob): Promise<void> {
    const home = shards.home(job.id);
    // The home shard last: a job that is found is whole.
    for (const shard of homeLast(shards, job.id)) {
      await shard.run("create-job", ...jobWords(job, time, { shards: shards.all.length, isHome: shard === home }));
    }
  }

  async function list(limit: number, before: number | undefined): Promise<JobView[]> {
    return firstOf(await onHomes((shard) => shard.run("list-jobs", limit, fromWord(before))), newestFirst, limit);
  }

  async function listOpen(limit: number, before: number | undefined): Promise<JobView[]> {
    return firstOf(await onHomes((shard) => openOn(shard, limit, fromWord(before))), newestFirst, limit);
  }

  const fromWord = (before: number | undefined): Word => (before === undefined ? "+inf" : time.toBroker(before));

  /** What the home shards of jobs tell of them. */
  async function onHomes(ask: (shard: Shard) => Promise<Reply>): Promise<JobRow[]> {
    const pages = await Promise.all(shards.all.map(ask));
    return pages.flatMap((page, nth) => readJobs(page).filter(({ id }) => shards.home(id).index === nth));
  }

  async function firstOf(rows: JobRow[], order: (one: JobRow, other: JobRow) => number, limit: number) {
    const first = rows.sort(order).slice(0, limit);
    if (shards.all.length === 1) return first.map(view);
    // One may have been forgotten in between.
    const whole = await Promise.all(first.map(({ id }) => find(id)));
    return whole.flatMap((row) => (row === undefined ? [] : [view(row)]));
  }

  async function listEnded(before: number, limit: number): Promise<JobView[]> {
    const longestFirst = (one: JobRow, other: JobRow) =>
      (one.finishedAt ?? 0) - (other.finishedAt ?? 0) || one.n - other.n;
    const ended = await onHomes((shard) => shard.run("list-ended", limit, time.toBroker(before)));
    return firstOf(ended, longestFirst, limit);
  }

  async function change(jobId: string, wanted: Change): Promise<JobView> {
    const state = String((await shards.home(jobId).run("control", jobId, ...changeWords(wanted, time)))[1]);
    if (state === "missing") throw jobMissing(jobId, `frontier.${wanted.op}`);
    if (state === "fixed") throw limitFixed(jobId);
    if (state !== "ok" && wanted.op === "limits") throw tooLateForLimits(jobId, state);
    if (state !== "ok") throw jobEnded(jobId, state, wanted.op);
    await endings.end(await word.spread(jobId));
    while (await tidy()) {}
    return view(await get(jobId, `frontier.${wanted.op}`));
  }

  async function reopen(jobIds: readonly string[]): Promise<string[]> {
    const open: string[] = [];
    for (const home of shards.all) {
      const own = jobIds.filter((jobId) => shards.home(jobId) === home);
      const reply = own.length === 0 ? [] : (await home.run("reopen", ...own)).map(String);
      for (let at = 1; at < reply.length; at += 2) {
        const [jobId = "", isUntold] = reply.slice(at);
        if (isUntold === "1") await word.spread(jobId);
        open.push(jobId);
      }
    }
    return open;
  }

  async function tidy(): Promise<boolean> {
    const moved = await allDone(
      shards.all.map(async (shard) => {
        const [, worked, ...quiet] = await shard.run("sync", BATCH_MOST);
        await endings.end(quiet.map(String));
        return worked === 1;
      }),
    );
    return moved.includes(true);
  }

  return {
    ...endings,
    create,
    async seal(jobId) {
      const [, isThere, ...quiet] = await shards.home(jobId).runOnce("seal", jobId);
      if (isThere === 0) throw jobMissing(jobId, "frontier.seal");
      const over = [...quiet.map(String), ...(await word.spread(jobId))];
      return (await endings.end(over)).includes(jobId);
    },
    find,
    view,
    list,
    listOpen,
    listEnded,
    change,
    tidy,
    reopen,
    async forgetLapsed() {
      await allDone(shards.all.map((shard) => shard.run("forget-lapsed", BATCH_MOST)));
    },
    carryOn: async () => void (await endings.end(await word.spreadOld())),
  };
}

function newestFirst(one: JobRow, other: JobRow): number {
  return other.createdAt - one.createdAt || other.n - one.n;
}

/** Asks again where some were taken out, which is once for each: the next ones have come up. */
async function openOn(shard: Shard, limit: number, from: Word): Promise<Reply> {
  for (;;) {
    const reply = await shard.run("list-open", limit, from);
    if (reply.at(-1) === 0) return reply;
  }
}

function jobEnded(jobId: string, state: string, op: string): TrawlError {
  return new TrawlError("JOB_ENDED", {
    op: `frontier.${op}`,
    message: `job ${jobId} is ${state}: too late to ${op} it; start a new job, or replay its dead letters`,
    detail: { jobId, state },
  });
}

function homeLast(shards: Shards, jobId: string): Shard[] {
  const home = shards.home(jobId);
  return [...shards.all.filter((shard) => shard !== home), home];
}

function changeWords(change: Change, time: BrokerTime): Word[] {
  if (change.op === "limits") {
    const { pages, deadlineAt } = change.limits;
    return [change.op, limitWord(pages), limitWord(deadlineAt && time.toBroker(deadlineAt))];
  }
  if (change.op === "priority") return [change.op, change.priority];
  if (change.op !== "policy") return [change.op];
  const { intervalMs, burst, perSite } = change.policy;
  return [change.op, intervalMs, burst, perSite];
}

/** As control.lua reads it. */
function limitWord(limit: number | null | undefined): Word {
  if (limit === undefined) return "=";
  return limit ?? "";
}

function limitFixed(jobId: string): TrawlError {
  return new TrawlError("LIMIT_FIXED", {
    op: "frontier.setLimits",
    message: `job ${jobId} was made without a page limit, and this broker's shards count pages only for jobs that have one; pause or cancel it, or limit its seconds`,
    detail: { jobId },
  });
}

const ZEROES = [
  ...["sealed", "stopped", "admitted", "generation", "submitted", "discovered", "queued", "delayed", "leased", "done"],
  ...["dead", "cancelled", "duplicate", "refused", "pages", "records", "invalid", "bytes"],
];

function jobWords(job: NewJob, time: BrokerTime, { shards, isHome }: { shards: number; isHome: boolean }): Word[] {
  const { policy, retries, limits, dedup } = job;
  const rules = Object.entries(job.sites);
  const fields: Record<string, Word | undefined> = {
    ...Object.fromEntries(ZEROES.map((name) => [name, 0])),
    name: job.name,
    queue: job.queue,
    base_priority: job.priority,
    priority: job.priority,
    interval: policy.intervalMs,
    burst: policy.burst,
    per_site: policy.perSite,
    has_rules: rules.length > 0 ? 1 : 0,
    robots: job.robots ? 1 : 0,
    retries: retries.max,
    backoff: retries.backoffMs,
    ...pageLimit(limits.pages, shards),
    lapse: "expireAfterMs" in dedup ? dedup.expireAfterMs : undefined,
    spec: JSON.stringify(job.spec),
  };
  const pairs = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  return [
    job.id,
    dedup.scope === "job" ? `job:${job.id}` : `set:${dedup.scope}`,
    limits.deadlineAt === undefined ? "" : time.toBroker(limits.deadlineAt),
    isHome ? 1 : 0,
    pairs.length / 2,
    ...pairs,
    ...rules.flatMap(([site, rule]) => [site, `${rule.intervalMs} ${rule.burst} ${rule.perSite}`]),
  ];
}

/** Of several shards each begins with none and is allotted what it needs, see page-quota.ts. */
function pageLimit(pages: number | undefined, shards: number): Record<string, Word | undefined> {
  if (pages === undefined || shards === 1) return { page_limit: pages };
  return { page_limit: 0, pages_left: pages, page_total: pages };
}
