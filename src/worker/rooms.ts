/**
 * Queues whose tasks share a limit of their own, beside the worker's: what is rendered has to wait for a tab, and is better
 * left to other workers until one is free, than held on a lease that keeps its site waiting. Called by the lease loop, one
 * lease at a time. A crash loses nothing: what is held is held by leases.
 */
import { type Claim, claimKey, type Frontier, type Grant, type LeaseAnswer } from "../frontier/frontier.ts";

/** For so many tasks of these queues at once. */
export type Room = { queues: readonly string[]; most: number };

export type Rooms = {
  /**
   * Asks for each room in turn for what it still takes, `free` in all. Grants go to `begin` as they come: a later call may
   * fail. Answers with when to ask again.
   */
  lease(free: number, begin: (grant: Grant) => void): Promise<Omit<LeaseAnswer, "grants">>;
  /** A task has ended; true if its room was full until now, so that nobody has told of what waits there. */
  leave(claim: Claim): boolean;
};

type Options = { worker: string; leaseMs: number; rooms: readonly Room[] };

export function createRooms(frontier: Pick<Frontier, "lease">, { worker, leaseMs, rooms }: Options): Rooms {
  const held = rooms.map(() => new Set<string>());

  async function leaseOf({ queues, most }: Room, keys: Set<string>, free: number): Promise<LeaseAnswer> {
    // Also for nothing: that tells the others to see to what comes up meanwhile.
    const max = Math.min(free, most - keys.size);
    const answer = await frontier.lease({ worker, queues, max, leaseMs });
    for (const grant of answer.grants) keys.add(claimKey(grant));
    // What is due where there is no room is not waited for: the end of a task is.
    return answer.grants.length >= max ? { ...answer, nextDueAt: undefined } : answer;
  }

  return {
    async lease(free, begin) {
      const answers: LeaseAnswer[] = [];
      let left = free;
      for (const [nth, room] of rooms.entries()) {
        const answer = await leaseOf(room, held[nth] as Set<string>, left);
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
      const [room, keys] = [rooms[nth], held[nth]];
      if (room === undefined || keys === undefined) return false; // it ran alone
      const wasFull = keys.size >= room.most;
      keys.delete(key);
      return wasFull;
    },
  };
}

function earliest(instants: readonly (number | undefined)[]): number | undefined {
  const known = instants.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
