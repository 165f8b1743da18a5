/**
 * Limits how many tasks of some queues a worker runs at once, in addition to its concurrency. A render task needs a
 * free tab. If no tab is free, the worker does not lease the task: the lease would delay the site of the task, and
 * another worker may have a free tab. The lease loop makes one lease call at a time. A crash loses nothing, because the
 * frontier stores the leases.
 */
import type { ReturnedTerm } from "../../domain/politeness.ts";
import { type Claim, claimKey, type Frontier, type LeaseAnswer } from "../../frontier/frontier.ts";

/** The worker holds at most `tasks` tasks of these queues at once, started or not. */
export type QueueLimit = { queues: readonly string[]; tasks: number };

/** `max`, `maxNow`, `returned`: see LeaseRequest. */
export type Demand = { max: number; maxNow: number; returned: readonly ReturnedTerm[] };

type Granted = Pick<LeaseAnswer, "grants" | "terms">;

type QueueLimits = {
  /**
   * For each limit in turn, leases as many tasks as the limit still allows. Passes each answer to `add` at once, because
   * the lease call for the next limit may fail. Returns when to lease again.
   */
  lease(demand: Demand, add: (granted: Granted) => void): Promise<Pick<LeaseAnswer, "nextDueAt" | "aloneDueAt">>;
  /**
   * Counts a task as ended. Returns true if its limit was reached until now: in that case, tasks may be due that no
   * lease call has reported.
   */
  leave(claim: Claim): boolean;
};

type Options = { worker: string; leaseMs: number; lookaheadMs: number; queueLimits: readonly QueueLimit[] };

export function createQueueLimits(
  frontier: Pick<Frontier, "lease" | "returnTerms">,
  { worker, leaseMs, lookaheadMs, queueLimits }: Options,
): QueueLimits {
  const held = queueLimits.map(() => new Set<string>());

  async function leaseOf({ queues, tasks }: QueueLimit, keys: Set<string>, demand: Demand): Promise<LeaseAnswer> {
    // The call is made even if max is 0: the frontier then wakes other workers for tasks of these queues.
    const max = Math.min(demand.max, tasks - keys.size);
    const maxNow = Math.min(demand.maxNow, max);
    const answer = await frontier.lease({ worker, queues, leaseMs, lookaheadMs, ...demand, max, maxNow });
    for (const grant of answer.grants) keys.add(claimKey(grant));
    // While a limit is reached, the due time does not matter: the end of a task wakes the loop.
    const isFull = answer.grants.length >= max || unpacedIn(answer) >= maxNow;
    return isFull ? { ...answer, nextDueAt: undefined } : answer;
  }

  return {
    async lease(demand, add) {
      const answers: LeaseAnswer[] = [];
      let { max, maxNow, returned } = demand;
      if (queueLimits.length > 1) {
        // When a lease call returns the term of a site, it leaves the site to the queues of other workers first. With
        // several limits, it would mistake the other queues of this worker for those of other workers. So terms without
        // tasks are returned before the lease calls. The other terms are returned in a later round.
        await frontier.returnTerms(returned.filter(({ unstarted }) => unstarted === 0));
        returned = [];
      }
      for (const [nth, limit] of queueLimits.entries()) {
        const answer = await leaseOf(limit, held[nth] as Set<string>, { max, maxNow, returned });
        add(answer);
        max -= answer.grants.length;
        maxNow -= unpacedIn(answer);
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

/** The number of tasks that start at once. */
function unpacedIn({ grants, terms }: Granted): number {
  const paced = new Set(terms.map(({ site }) => site));
  return grants.filter(({ site }) => !paced.has(site)).length;
}

function earliest(instants: readonly (number | undefined)[]): number | undefined {
  const known = instants.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
