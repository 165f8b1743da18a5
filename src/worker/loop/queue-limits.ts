/**
 * Limits how many tasks of some queues a worker holds, in addition to its concurrency. A render task needs a free tab;
 * without one it is better left to another worker than leased, since a lease delays its site. The lease loop calls it, one
 * lease at a time. A crash loses nothing: the leases in the frontier say what was held.
 */
import { type Claim, claimKey, type Frontier, type Grant, type LeaseAnswer } from "../../frontier/frontier.ts";

/** At most `most` tasks of these queues at once. */
export type QueueLimit = { queues: readonly string[]; most: number };

type QueueLimits = {
  /**
   * Leases for each limit in turn what it still allows, `free` in all. Passes grants to `begin` at once, since a later call
   * may fail. Returns when to lease again.
   */
  lease(free: number, begin: (grant: Grant) => void): Promise<Omit<LeaseAnswer, "grants">>;
  /** Counts a task as ended. True if its limit was reached: tasks may be due that no lease call has reported. */
  leave(claim: Claim): boolean;
};

type Options = { worker: string; leaseMs: number; queueLimits: readonly QueueLimit[] };

export function createQueueLimits(
  frontier: Pick<Frontier, "lease">,
  { worker, leaseMs, queueLimits }: Options,
): QueueLimits {
  const held = queueLimits.map(() => new Set<string>());

  async function leaseOf({ queues, most }: QueueLimit, keys: Set<string>, free: number): Promise<LeaseAnswer> {
    // Also with max 0: the frontier then wakes other workers for tasks of these queues.
    const max = Math.min(free, most - keys.size);
    const answer = await frontier.lease({ worker, queues, max, leaseMs });
    for (const grant of answer.grants) keys.add(claimKey(grant));
    // While the limit is reached, a due time is useless: the end of a task wakes the loop.
    return answer.grants.length >= max ? { ...answer, nextDueAt: undefined } : answer;
  }

  return {
    async lease(free, begin) {
      const answers: LeaseAnswer[] = [];
      let left = free;
      for (const [nth, limit] of queueLimits.entries()) {
        const answer = await leaseOf(limit, held[nth] as Set<string>, left);
        left -= answer.grants.length;
        for (const grant of answer.grants) begin(grant);
        answers.push(answer);
      }
      return {
        nextDueAt: earliest(answers.map(({ nextDueAt }) => nextDueAt)),
        aloneDueAt: earliest(answers.map(({ aloneDueAt }) => aloneDueAt)),
      };
    },
    leave(claim) {
      const key = claimKey(claim);
      const nth = held.findIndex((keys) => keys.has(key));
      const [limit, keys] = [queueLimits[nth], held[nth]];
      if (limit === undefined || keys === undefined) return false; // it was a suspect
      const wasFull = keys.size >= limit.most;
      keys.delete(key);
      return wasFull;
    },
  };
}

function earliest(instants: readonly (number | undefined)[]): number | undefined {
  const known = instants.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
