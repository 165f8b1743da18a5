/**
 * Forgets jobs that have ended (F21). The home shard decides in one step, after which the job is not found; the others
 * follow, and then what it has left goes, some of it a call. A crash in between leaves the job's number in `forgotten` on
 * its home shard, from which it goes last: the next reaper finds it there and goes on.
 */
import type { JobState } from "../../domain/job.ts";
import { BATCH_MOST } from "../frontier.ts";
import { jobRunning } from "../job-missing.ts";
import { allDone, type Shard, type Shards } from "./shards.ts";

export type Forgetting = {
  /** Throws JOB_RUNNING. */
  forget(jobId: string, max: number): Promise<"gone" | "more">;
  /** Removes some of what forgotten jobs have left; true when nothing is. */
  clear(max: number): Promise<boolean>;
};

export function createForgetting(shards: Shards): Forgetting {
  /** Done again it changes nothing. */
  async function tellOthers(jobId: string, home: Shard): Promise<void> {
    const others = shards.all.filter((shard) => shard !== home);
    await allDone(others.map((shard) => shard.run("forget-job", jobId, "follow")));
  }

  /** One step of one job on a shard. True when the shard has none left. */
  async function clearOne(shard: Shard, most: number): Promise<boolean> {
    const [, jobNumber, jobId] = await shard.run("find-forgotten");
    if (jobNumber === undefined) return true;
    // Whoever was to tell the others may have died: nobody but the home shard remembers.
    if (shards.home(String(jobId)) === shard) await tellOthers(String(jobId), shard);
    await shard.run("clear-forgotten", jobNumber, most);
    return (await shard.run("find-forgotten"))[1] === undefined;
  }

  async function clear(max: number): Promise<boolean> {
    const most = Math.min(max, BATCH_MOST);
    const cleared = await allDone(shards.all.map((shard) => clearOne(shard, most)));
    return cleared.every((isClear) => isClear);
  }

  return {
    async forget(jobId, max) {
      const home = shards.home(jobId);
      const [, state] = await home.run("forget-job", jobId, "decide");
      if (state !== "") throw jobRunning(jobId, state as JobState, "frontier.forgetJob");
      await tellOthers(jobId, home);
      return (await clear(max)) ? "gone" : "more";
    },
    clear,
  };
}
