/**
 * Limits how many tasks of some queues a worker runs at once, in addition to its concurrency. A render task needs a
 * free tab. If no tab is free, the worker does not lease the task: the lease would delay the site of the task, and
 * another worker may have a free tab. The lease loop makes one lease call at a time. A crash loses nothing, because the
 * frontier stores the leases.
 */
import { type Claim, claimKey, type Frontier, type Grant, type LeaseAnswer } from "../../frontier/frontier.ts";

/** At most `tasks` tasks of these queues run at once. */
export type QueueLimit = { queues: readonly string[]; tasks: number };

type QueueLimits = {
  /**
   * For each limit in turn, leases as many tasks as the limit still allows, at most `free` in total. Passes each grant
   * to `begin` immediately, because the lease call for the next limit may fail. Returns when to lease again.
   */
  lease(free: number, begin: (grant: Grant) => void): Promise<Omit<LeaseAnswer, "grants">>;
  /**
   * Counts a task as ended. True if its limit was reached until now: tasks may be due that no lease call has reported.
   */
  leave(claim: Claim): boolean;
};

type Options = { worker: string; leaseMs: number; queueLimits: readonly QueueLimit[] };

export function createQueueLimits(
  frontier: Pick<Frontier, "lease">,
  { worker, leaseMs, queueLimits }: Options,
): QueueLimits {
  const held = queueLimits.map(() => new Set<string>());

  async function leaseOf({ queues, tasks }: QueueLimit, keys: Set<string>, free: number): Promise<LeaseAnswer> {
    // The call is made even if max is 0: the frontier then wakes other workers for tasks of these queues.
    const max = Math.min(free, tasks - keys.size);
    const answer = await frontier.lease({ worker, queues, max, leaseMs });
    for (const grant of answer.grants) keys.add(claimKey(grant));
    // While the limit is reached, the due time does not matter: the end of a task wakes the loop.
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
      const wasFull = keys.size >= limit.tasks;
      keys.delete(key);
      return wasFull;
    },
  };
}

function earliest(instants: readonly (number | undefined)[]): number | undefined {
  const known = instants.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
