/**
 * Forgets jobs that have ended (F21). One script removes the job from the index of its owner shard; from then on the
 * job is not found. The other shards follow. Then each shard removes its data of the job, some per call. After a crash,
 * `forgotten` still contains the job's number on every shard that has data left, and the next reaper continues.
 */
import type { JobState } from "../../domain/job.ts";
import { MAX_BATCH } from "../frontier.ts";
import { jobRunning } from "../job-errors.ts";
import { allDone, type Shard, type Shards } from "./cluster/shards.ts";

type Forgetter = {
  /** Throws JOB_RUNNING. */
  forget(jobId: string, max: number): Promise<"gone" | "more">;
  /** Removes up to `max` entries of forgotten jobs on each shard. True when none remain. */
  clear(max: number): Promise<boolean>;
};

export function createForgetter(shards: Shards): Forgetter {
  /** Removes the job from the indexes of the other shards. Idempotent. */
  async function forgetOnOthers(jobId: string, owner: Shard): Promise<void> {
    const others = shards.all.filter((shard) => shard !== owner);
    await allDone(others.map((shard) => shard.run("forget-job", jobId, "follow")));
  }

  /** Removes some entries of one job on a shard. True when the shard has no forgotten job left. */
  async function clearOne(shard: Shard, max: number): Promise<boolean> {
    const [, jobNumber, jobId] = await shard.run("find-forgotten");
    if (jobNumber === undefined) return true;
    // The process that forgot the job may have crashed before it updated the other shards, so this is repeated.
    if (shards.ownerOf(String(jobId)) === shard) await forgetOnOthers(String(jobId), shard);
    await shard.run("clear-forgotten", jobNumber, max);
    return (await shard.run("find-forgotten"))[1] === undefined;
  }

  async function clear(max: number): Promise<boolean> {
    const bounded = Math.min(max, MAX_BATCH);
    const cleared = await allDone(shards.all.map((shard) => clearOne(shard, bounded)));
    return cleared.every((isClear) => isClear);
  }

  return {
    async forget(jobId, max) {
      const owner = shards.ownerOf(jobId);
      const [, state] = await owner.run("forget-job", jobId, "decide");
      if (state !== "") throw jobRunning(jobId, state as JobState, "frontier.forgetJob");
      await forgetOnOthers(jobId, owner);
      return (await clear(max)) ? "gone" : "more";
    },
    clear,
  };
}
