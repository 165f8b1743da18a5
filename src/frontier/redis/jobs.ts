/**
 * Creates, seals, changes and ends jobs (F11, F12). A change runs one script on the job's owner shard and then one on
 * each of the others (see job-state-sync.ts). The job's lanes are then updated in batches of MAX_BATCH. Pause, resume,
 * cancel and limits apply from the next lease call on; priority and rate apply to each lane when the lane is updated. A
 * crash between two scripts leaves the job marked, and the next reaper continues.
 *
 * createJobs is long because it is a list of short operations on the same shards.
 */
import { TrawlError } from "../../errors.ts";
import { MAX_BATCH, type NewJob } from "../frontier.ts";
import { inOrderOf, type JobView, type LimitChange } from "../frontier-admin.ts";
import { endedAdvice, jobNotFound, tooLateForLimits } from "../job-errors.ts";
import { createSpecParser } from "../spec-cache.ts";
import { createJobCompletion, type JobCompletion } from "./cluster/job-completion.ts";
import { createJobStateSync } from "./cluster/job-state-sync.ts";
import { allDone, type Shard, type Shards } from "./cluster/shards.ts";
import { decodeJobs, type JobRow, sumCounts, viewOf } from "./codec/job-rows.ts";
import type { Reply, ScriptArg } from "./connection/broker-client.ts";
import type { BrokerClock } from "./connection/broker-clock.ts";

type Change =
  | { op: "pause" | "resume" | "cancel" }
  | { op: "priority"; priority: number }
  | { op: "policy"; policy: { intervalMs: number; burst: number; perSite: number } }
  | { op: "limits"; limits: LimitChange };

export type Jobs = JobCompletion & {
  create(job: NewJob): Promise<void>;
  seal(jobId: string): Promise<boolean>;
  /** The job with the counts of all shards. */
  find(jobId: string): Promise<JobRow | undefined>;
  /** In the order of `jobIds`. */
  findAll(jobIds: readonly string[]): Promise<JobView[]>;
  view(row: JobRow): JobView;
  list(limit: number, before: number | undefined): Promise<JobView[]>;
  /** Newest first. */
  listOpen(limit: number, before: number | undefined): Promise<JobView[]>;
  /** Oldest end first. */
  listEnded(before: number, limit: number): Promise<JobView[]>;
  change(jobId: string, change: Change): Promise<JobView>;
  /**
   * On each shard: stops one job past its deadline, and updates the next lanes of one changed job. Returns false if
   * there was no changed job.
   */
  maintain(): Promise<boolean>;
  /** Reopens ended jobs. Returns those whose dead letters can be replayed. */
  reopen(jobIds: readonly string[]): Promise<string[]>;
  /** Removes some expired entries from shared sets of seen URLs. */
  expireSeen(): Promise<void>;
  /** Continues changes that a crashed process left incomplete. */
  resumeChanges(): Promise<void>;
};

type Deps = { shards: Shards; time: BrokerClock };

export function createJobs({ shards, time }: Deps): Jobs {
  const stateSync = createJobStateSync(shards);
  const completion = createJobCompletion(shards, find, stateSync);
  const parseSpec = createSpecParser();
  const view = (row: JobRow) => viewOf(row, time, parseSpec);

  async function find(jobId: string): Promise<JobRow | undefined> {
    const owner = shards.ownerOf(jobId);
    const parts = await Promise.all(
      shards.all.map(async (shard) => ({ shard, row: decodeJobs(await shard.run("find-job", jobId, ""))[0] })),
    );
    const own = parts.find(({ shard }) => shard === owner)?.row;
    return own === undefined
      ? undefined
      : sumCounts(
          own,
          parts.flatMap(({ row }) => (row === undefined ? [] : [row])),
        );
  }

  /** Calls one script per shard for all jobs. */
  async function findAll(jobIds: readonly string[]): Promise<JobView[]> {
    if (jobIds.length === 0) return [];
    const parts = await Promise.all(
      shards.all.map(async (shard) => decodeJobs(await shard.run("find-jobs", ...jobIds))),
    );
    const rows = new Map<string, JobRow[]>();
    for (const row of parts.flat()) rows.set(row.id, [...(rows.get(row.id) ?? []), row]);
    const owned = shards.all.flatMap((shard, nth) =>
      (parts[nth] ?? []).filter(({ id }) => shards.ownerOf(id) === shard),
    );
    return inOrderOf(jobIds, owned).map((row) => view(sumCounts(row, rows.get(row.id) ?? [])));
  }

  async function get(jobId: string, op: string): Promise<JobRow> {
    const row = await find(jobId);
    if (row === undefined) throw jobNotFound(jobId, op);
    return row;
  }

  async function create(job: NewJob): Promise<void> {
    const owner = shards.ownerOf(job.id);
    // The owner shard last: a job that can be found exists on all shards.
    for (const shard of ownerLast(shards, job.id)) {
      await shard.run("create-job", ...jobArgs(job, time, { shards: shards.all.length, isOwner: shard === owner }));
    }
  }

  async function list(limit: number, before: number | undefined): Promise<JobView[]> {
    return firstOf(await onOwners((shard) => shard.run("list-jobs", limit, beforeArg(before))), newestFirst, limit);
  }

  async function listOpen(limit: number, before: number | undefined): Promise<JobView[]> {
    return firstOf(await onOwners((shard) => openOn(shard, limit, beforeArg(before))), newestFirst, limit);
  }

  const beforeArg = (before: number | undefined): ScriptArg => (before === undefined ? "+inf" : time.toBroker(before));

  /** The rows of each shard's own jobs. */
  async function onOwners(list: (shard: Shard) => Promise<Reply>): Promise<JobRow[]> {
    const pages = await Promise.all(shards.all.map(list));
    return pages.flatMap((page, nth) => decodeJobs(page).filter(({ id }) => shards.ownerOf(id).index === nth));
  }

  async function firstOf(rows: JobRow[], order: (one: JobRow, other: JobRow) => number, limit: number) {
    const first = rows.sort(order).slice(0, limit);
    if (shards.all.length === 1) return first.map(view);
    // A job may have been forgotten in between.
    return findAll(first.map(({ id }) => id));
  }

  async function listEnded(before: number, limit: number): Promise<JobView[]> {
    const oldestEndFirst = (one: JobRow, other: JobRow) =>
      (one.finishedAt ?? 0) - (other.finishedAt ?? 0) || one.n - other.n;
    const ended = await onOwners((shard) => shard.run("list-ended", limit, time.toBroker(before)));
    return firstOf(ended, oldestEndFirst, limit);
  }

  async function change(jobId: string, wanted: Change): Promise<JobView> {
    const state = String((await shards.ownerOf(jobId).run("change-job", jobId, ...changeArgs(wanted, time)))[1]);
    if (state === "missing") throw jobNotFound(jobId, `frontier.${wanted.op}`);
    if (state === "fixed") throw limitFixed(jobId);
    if (state !== "ok" && wanted.op === "limits") throw tooLateForLimits(jobId, state);
    if (state !== "ok") throw jobEnded(jobId, state, wanted.op);
    await completion.end(await stateSync.push(jobId));
    while (await maintain()) {}
    return view(await get(jobId, `frontier.${wanted.op}`));
  }

  async function reopen(jobIds: readonly string[]): Promise<string[]> {
    const open: string[] = [];
    for (const owner of shards.all) {
      const own = jobIds.filter((jobId) => shards.ownerOf(jobId) === owner);
      const reply = own.length === 0 ? [] : (await owner.run("reopen-jobs", ...own)).map(String);
      for (let at = 1; at < reply.length; at += 2) {
        const [jobId = "", isUnsynced] = reply.slice(at);
        if (isUnsynced === "1") await stateSync.push(jobId);
        open.push(jobId);
      }
    }
    return open;
  }

  async function maintain(): Promise<boolean> {
    const moved = await allDone(
      shards.all.map(async (shard) => {
        const [, worked, ...emptied] = await shard.run("sync-lanes", MAX_BATCH);
        await completion.end(emptied.map(String));
        return worked === 1;
      }),
    );
    return moved.includes(true);
  }

  return {
    ...completion,
    create,
    async seal(jobId) {
      const [, exists, ...emptied] = await shards.ownerOf(jobId).runOnce("seal", jobId);
      if (exists === 0) throw jobNotFound(jobId, "frontier.seal");
      const ended = [...emptied.map(String), ...(await stateSync.push(jobId))];
      return (await completion.end(ended)).includes(jobId);
    },
    find,
    findAll,
    view,
    list,
    listOpen,
    listEnded,
    change,
    maintain,
    reopen,
    async expireSeen() {
      await allDone(shards.all.map((shard) => shard.run("expire-seen", MAX_BATCH)));
    },
    resumeChanges: async () => void (await completion.end(await stateSync.pushPending())),
  };
}

function newestFirst(one: JobRow, other: JobRow): number {
  return other.createdAt - one.createdAt || other.n - one.n;
}

/**
 * Lists the open jobs of a shard. If the script removed stale entries, the reply is incomplete, and the call is
 * repeated. Each entry is removed only once, so this ends.
 */
async function openOn(shard: Shard, limit: number, from: ScriptArg): Promise<Reply> {
  for (;;) {
    const reply = await shard.run("list-open", limit, from);
    if (reply.at(-1) === 0) return reply;
  }
}

function jobEnded(jobId: string, state: string, op: string): TrawlError {
  return new TrawlError("JOB_ENDED", {
    op: `frontier.${op}`,
    message: `job ${jobId} is ${state} and cannot be changed; ${endedAdvice(state)}`,
    detail: { jobId, state },
  });
}

function ownerLast(shards: Shards, jobId: string): Shard[] {
  const owner = shards.ownerOf(jobId);
  return [...shards.all.filter((shard) => shard !== owner), owner];
}

function changeArgs(change: Change, time: BrokerClock): ScriptArg[] {
  if (change.op === "limits") {
    const { pages, deadlineAt } = change.limits;
    return [change.op, limitArg(pages), limitArg(deadlineAt && time.toBroker(deadlineAt))];
  }
  if (change.op === "priority") return [change.op, change.priority];
  if (change.op !== "policy") return [change.op];
  const { intervalMs, burst, perSite } = change.policy;
  return [change.op, intervalMs, burst, perSite];
}

/** A limit as change-job.lua expects it: "=" keeps the current limit, "" removes it. */
function limitArg(limit: number | null | undefined): ScriptArg {
  if (limit === undefined) return "=";
  return limit ?? "";
}

function limitFixed(jobId: string): TrawlError {
  return new TrawlError("LIMIT_FIXED", {
    op: "frontier.setLimits",
    message: `job ${jobId} was created without a page limit, and a broker with several shards counts pages only for jobs that have one; pause or cancel the job, or set a time limit`,
    detail: { jobId },
  });
}

const ZEROES = [
  ...["sealed", "stopped", "admitted", "generation", "submitted", "discovered", "queued", "delayed", "leased", "done"],
  ...["dead", "cancelled", "duplicate", "refused", "pages", "records", "invalid", "bytes"],
];

function jobArgs(
  job: NewJob,
  time: BrokerClock,
  { shards, isOwner }: { shards: number; isOwner: boolean },
): ScriptArg[] {
  const { policy, retries, limits, dedup } = job;
  const rules = Object.entries(job.sites);
  const fields: Record<string, ScriptArg | undefined> = {
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
    isOwner ? 1 : 0,
    pairs.length / 2,
    ...pairs,
    ...rules.flatMap(([site, rule]) => [site, `${rule.intervalMs} ${rule.burst} ${rule.perSite}`]),
  ];
}

/** With several shards, each starts without pages and is given pages when it needs them, see page-quota.ts. */
function pageLimit(pages: number | undefined, shards: number): Record<string, ScriptArg | undefined> {
  if (pages === undefined || shards === 1) return { page_limit: pages };
  return { page_limit: 0, pages_left: pages, page_total: pages };
}
