/**
 * Ends jobs exactly once (F11). On a single shard, the script that settles the last task also ends the job. With
 * several shards, no shard knows all tasks of the job. Each shard reports when the job has no tasks left on it, and the
 * caller then reads all shards twice. If the job was empty on all of them both times, and none admitted tasks in
 * between, there was a moment at which the job had no tasks at all. Then the owner shard ends the job, unless its state
 * changed since the first read (see finish-job.lua), and the other shards apply the new state. After a crash, reapers
 * end the job: they scan all jobs, some per call.
 */
import type { JobRow } from "../codec/job-rows.ts";
import { lostMsOf } from "../connection/broker-errors.ts";
import type { JobStateSync } from "./job-state-sync.ts";
import { allDone, type Shard, type Shards } from "./shards.ts";

export type JobCompletion = {
  /**
   * Checks jobs that have no tasks left on some shard. Returns the jobs that this call ended. Stops at the first job
   * that needs an unreachable shard.
   */
  end(emptied: readonly string[]): Promise<string[]>;
  /**
   * Reads the next SCANNED jobs of every shard, ends those that a crashed process left open, and indexes open jobs that
   * an older version did not index.
   */
  sweep(): Promise<void>;
};

/** Jobs read per shard in one sweep. */
const SCANNED = 100;

type FindJob = (jobId: string) => Promise<JobRow | undefined>;

export function createJobCompletion(shards: Shards, find: FindJob, stateSync: JobStateSync): JobCompletion {
  async function endOne(jobId: string): Promise<boolean> {
    const first = await find(jobId);
    if (first === undefined || !isEmpty(first)) return false;
    const second = await find(jobId);
    if (second === undefined || !isEmpty(second) || admittedBy(second) !== admittedBy(first)) return false;
    const { dead, refused } = second.counts;
    const failed = second.tally.pages === 0 && dead + refused > 0;
    const state = failed ? "failed" : "finished";
    const [, ended] = await shards.ownerOf(jobId).runOnce("finish-job", jobId, first.generation, state);
    if (ended !== 1) return false;
    // The job has ended even if not all shards could be updated: reapers push its state later.
    await stateSync.push(jobId).catch(() => []);
    return true;
  }

  /** Per shard: how many jobs to skip, the empty jobs found in this round, and those of the round before. */
  const rounds = shards.all.map(() => ({ from: 0, found: new Set<string>(), before: new Set<string>() }));

  async function sweepShard(shard: Shard, round: (typeof rounds)[number]): Promise<void> {
    const [, scanned, count, ...ids] = await shard.run("find-finished", round.from, SCANNED);
    const [empty, unlisted] = [ids.slice(0, Number(count)), ids.slice(Number(count))];
    const isOwn = (jobId: string) => shards.ownerOf(jobId) === shard;
    const open = unlisted.map(String).filter(isOwn);
    if (open.length > 0) await shard.run("index-open", ...open);
    for (const jobId of empty.map(String).filter(isOwn)) {
      // Ends a job only if it was also empty in the previous round: another process may be about to end or replay it.
      if (round.before.has(jobId) && shards.all.length > 1) await endOne(jobId);
      else round.found.add(jobId);
    }
    round.from += SCANNED;
    if (Number(scanned) < SCANNED) Object.assign(round, { from: 0, before: round.found, found: new Set() });
  }

  return {
    async sweep() {
      await allDone(rounds.map((round, nth) => sweepShard(shards.all[nth] as Shard, round)));
    },
    async end(emptied) {
      // With one shard, the script has already ended them.
      if (shards.all.length === 1) return [...emptied];
      const ended: string[] = [];
      try {
        for (const jobId of new Set(emptied)) if (await endOne(jobId)) ended.push(jobId);
      } catch (error) {
        // The operation that called this was executed, and its result must not be lost because a shard is unreachable.
        // The sweep ends this job and the remaining ones later. They all need every shard.
        if (lostMsOf(error) === undefined) throw error;
      }
      return ended;
    },
  };
}

function isEmpty({ isInSync, finishedAt, state, counts }: JobRow): boolean {
  const active = counts.queued + counts.delayed + counts.leased;
  return isInSync && finishedAt === undefined && active === 0 && (state === "running" || state === "cancelled");
}

/** Grows with every task that a shard admits. A replay raises the generation instead. */
function admittedBy({ counts }: JobRow): number {
  return counts.submitted + counts.discovered;
}
