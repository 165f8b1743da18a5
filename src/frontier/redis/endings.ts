/**
 * How jobs end, exactly once (F11). On one shard the script that settles the last task ends the job with it. Of several
 * none sees all: each tells when it has nothing left of a job, and whoever hears it looks at all of them, twice. If none
 * had anything both times and none had taken anything in between, there was an instant when nothing of the job was
 * left anywhere; then the home shard ends it, unless something was put back meanwhile (see finish.lua), and the others
 * follow.
 * A crash in the middle leaves the job to the reapers: they look through all jobs, some at a time.
 */
import { lostMsOf } from "./broker-errors.ts";
import type { HomeWord } from "./home-word.ts";
import type { JobRow } from "./job-rows.ts";
import { allDone, type Shard, type Shards } from "./shards.ts";

export type Endings = {
  /** Of jobs that have nothing left on some shard, those that this call has ended; while a shard is away it may be none. */
  end(quiet: readonly string[]): Promise<string[]>;
  /**
   * Looks at the next LOOKED_AT jobs of every shard, ends those that whoever was to end them has left behind, and notes as
   * open what an older version did not.
   */
  sweep(): Promise<void>;
};

/** Jobs looked at in one call on each shard. */
const LOOKED_AT = 100;

type Find = (jobId: string) => Promise<JobRow | undefined>;

export function createEndings(shards: Shards, find: Find, word: HomeWord): Endings {
  async function endOne(jobId: string): Promise<boolean> {
    const first = await find(jobId);
    if (first === undefined || !isOver(first)) return false;
    const second = await find(jobId);
    if (second === undefined || !isOver(second) || incomeOf(second) !== incomeOf(first)) return false;
    const { dead, refused } = second.counts;
    const failed = second.tally.pages === 0 && dead + refused > 0;
    const state = failed ? "failed" : "finished";
    const [, ended] = await shards.home(jobId).runOnce("finish", jobId, first.generation, state);
    if (ended !== 1) return false;
    // It has ended all the same if not all shards could be told: reapers go on with that.
    await word.spread(jobId).catch(() => []);
    return true;
  }

  /** Where to go on, what this round has found to be over, and what the round before has. */
  const rounds = shards.all.map(() => ({ from: 0, found: new Set<string>(), before: new Set<string>() }));

  async function sweepShard(shard: Shard, round: (typeof rounds)[number]): Promise<void> {
    const [, looked, count, ...ids] = await shard.run("find-over", round.from, LOOKED_AT);
    const [over, unlisted] = [ids.slice(0, Number(count)), ids.slice(Number(count))];
    const isOwn = (jobId: string) => shards.home(jobId) === shard;
    const open = unlisted.map(String).filter(isOwn);
    if (open.length > 0) await shard.run("note-open", ...open);
    for (const jobId of over.map(String).filter(isOwn)) {
      // One that was over in the round before too: else it may just be about to be ended, or to get dead letters back.
      if (round.before.has(jobId) && shards.all.length > 1) await endOne(jobId);
      else round.found.add(jobId);
    }
    round.from += LOOKED_AT;
    if (Number(looked) < LOOKED_AT) Object.assign(round, { from: 0, before: round.found, found: new Set() });
  }

  return {
    async sweep() {
      await allDone(rounds.map((round, nth) => sweepShard(shards.all[nth] as Shard, round)));
    },
    async end(quiet) {
      // With one shard the script has done it.
      if (shards.all.length === 1) return [...quiet];
      const ended: string[] = [];
      try {
        for (const jobId of new Set(quiet)) if (await endOne(jobId)) ended.push(jobId);
      } catch (error) {
        // What led here was carried out, and its answer must not be lost with a shard that is away: these and the rest,
        // which would wait for it as long again, are left to the sweep.
        if (lostMsOf(error) === undefined) throw error;
      }
      return ended;
    },
  };
}

function isOver({ isInLine, finishedAt, state, counts }: JobRow): boolean {
  const live = counts.queued + counts.delayed + counts.leased;
  return isInLine && finishedAt === undefined && live === 0 && (state === "running" || state === "cancelled");
}

/** Grows with everything that a shard takes in; a replay raises the generation instead. */
function incomeOf({ counts }: JobRow): number {
  return counts.submitted + counts.discovered;
}
