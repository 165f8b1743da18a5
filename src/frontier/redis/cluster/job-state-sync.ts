/**
 * Keeps the state of a job the same on all shards (F12): its owner shard decides, the others follow. Callers: every
 * operation that changes, seals, ends or reopens a job, and reapers. The owner shard records a change and a growing
 * generation number in one script. After a crash, or while a shard is unreachable, the change stays recorded, and the
 * next reaper pushes it. A shard ignores a state that is older than the one it has.
 */
import { allDone, type Shard, type Shards } from "./shards.ts";

export type JobStateSync = {
  /**
   * Copies the state of a job from its owner shard to the others. Returns the jobs that now have nothing left on one of
   * them.
   */
  push(jobId: string): Promise<string[]>;
  /** The same for some of the jobs whose last push was interrupted. */
  pushPending(): Promise<string[]>;
};

/** Max jobs per shard in one call of `pushPending`. */
const MAX_JOBS = 20;

export function createJobStateSync(shards: Shards): JobStateSync {
  if (shards.all.length === 1) return { push: async () => [], pushPending: async () => [] };

  async function pushFrom(owner: Shard, jobId: string, jobNumber: string): Promise<string[]> {
    const [, id, generation, ...rest] = (await owner.run("read-job-state", jobId, jobNumber)).map(String);
    if (id === undefined || generation === undefined) return [];
    const others = shards.all.filter((shard) => shard !== owner);
    const replies = await allDone(others.map((shard) => shard.run("apply-job-state", id, generation, ...rest)));
    await owner.run("mark-synced", id, generation);
    return replies.flatMap((reply) => reply.slice(1).map(String));
  }

  async function pushPendingOf(owner: Shard): Promise<string[]> {
    const numbers = (await owner.read("SRANDMEMBER", owner.key("untold"), MAX_JOBS)) as string[];
    const emptied: string[] = [];
    for (const jobNumber of numbers) emptied.push(...(await pushFrom(owner, "", jobNumber)));
    return emptied;
  }

  return {
    push: (jobId) => pushFrom(shards.ownerOf(jobId), jobId, ""),
    pushPending: async () => (await allDone(shards.all.map(pushPendingOf))).flat(),
  };
}
