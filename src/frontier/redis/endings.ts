/**
 * How jobs end, exactly once (F11). On one shard the script that settles the last task ends the job with it. Of several
 * none sees all: each tells when it has nothing left of a job, and whoever hears it looks at all of them, twice. If none
 * had anything both times and none had taken anything in between, there was an instant when nothing of the job was
 * left anywhere; then the home shard ends it, unless something was put back meanwhile (see finish.lua).
 * A crash in the middle leaves the job to the next reaper.
 */
import type { JobRow } from "./job-rows.ts";
import type { Shards } from "./shards.ts";

export type Endings = {
  /** Of jobs that have nothing left on some shard, those that this call has ended. */
  end(quiet: readonly string[]): Promise<string[]>;
};

type Find = (jobId: string) => Promise<JobRow | undefined>;

export function createEndings(shards: Shards, find: Find): Endings {
  async function endOne(jobId: string): Promise<boolean> {
    const first = await find(jobId);
    if (first === undefined || !isOver(first)) return false;
    const second = await find(jobId);
    if (second === undefined || !isOver(second) || incomeOf(second) !== incomeOf(first)) return false;
    const { done, dead, refused } = second.counts;
    const failed = done === 0 && dead + refused > 0;
    const home = shards.home(jobId);
    const state = failed ? "failed" : "finished";
    const [, ended] = await home.run("finish", jobId, first.generation, state);
    if (ended !== 1) return false;
    const others = shards.all.filter((shard) => shard !== home);
    await Promise.all(others.map((shard) => shard.run("finish", jobId, "", state)));
    return true;
  }

  return {
    async end(quiet) {
      // With one shard the script has done it.
      if (shards.all.length === 1) return [...quiet];
      const ended: string[] = [];
      for (const jobId of new Set(quiet)) if (await endOne(jobId)) ended.push(jobId);
      return ended;
    },
  };
}

function isOver({ sealed, finishedAt, state, counts }: JobRow): boolean {
  const live = counts.queued + counts.delayed + counts.leased;
  return sealed && finishedAt === undefined && live === 0 && (state === "running" || state === "cancelled");
}

/** Grows with everything that a shard takes in; a replay raises the generation instead. */
function incomeOf({ counts }: JobRow): number {
  return counts.submitted + counts.discovered;
}
