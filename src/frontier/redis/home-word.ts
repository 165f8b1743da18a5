/**
 * Keeps the shards of one mind about a job (F12): its home shard decides, the others follow. Who calls: whoever has
 * changed, sealed, ended or reopened a job, and reapers. A decision is noted on the home shard in the step that makes
 * it, with a number that grows. A crash, or a shard out of reach, leaves it noted, and the next reaper tells the rest;
 * a word that comes late is passed over by shards that have heard a later one.
 */
import { allDone, type Shard, type Shards } from "./shards.ts";

export type HomeWord = {
  /** Tells all shards what the home shard has decided. The answer is jobs that have nothing left on one of them. */
  spread(jobId: string): Promise<string[]>;
  /** The same for some jobs whose word somebody has left half told. */
  spreadOld(): Promise<string[]>;
};

/** Jobs that one call sees to on each shard. */
const JOBS_MOST = 20;

export function createHomeWord(shards: Shards): HomeWord {
  // One shard has nobody to tell.
  if (shards.all.length === 1) return { spread: async () => [], spreadOld: async () => [] };

  async function tell(home: Shard, jobId: string, jobNumber: string): Promise<string[]> {
    const [, id, generation, ...rest] = (await home.run("find-word", jobId, jobNumber)).map(String);
    if (id === undefined || generation === undefined) return [];
    const others = shards.all.filter((shard) => shard !== home);
    const replies = await allDone(others.map((shard) => shard.run("follow", id, generation, ...rest)));
    await home.run("told", id, generation);
    return replies.flatMap((reply) => reply.slice(1).map(String));
  }

  async function tellUntold(home: Shard): Promise<string[]> {
    const numbers = (await home.ask("SRANDMEMBER", home.key("untold"), JOBS_MOST)) as string[];
    const quiet: string[] = [];
    for (const jobNumber of numbers) quiet.push(...(await tell(home, "", jobNumber)));
    return quiet;
  }

  return {
    spread: (jobId) => tell(shards.home(jobId), jobId, ""),
    spreadOld: async () => (await allDone(shards.all.map(tellUntold))).flat(),
  };
}
