/** What this process has been granted and has not settled. Lost with the process, whose leases then run out. */
import { type Claim, claimKey } from "../frontier.ts";

export type Holdings = {
  add(claim: Claim, worker: string, jobId: string): void;
  drop(claim: Claim): void;
  jobOf(claim: Claim): string | undefined;
  /** Tasks that a worker of this process holds. */
  tasksOf(worker: string): string[];
};

export function createHoldings(): Holdings {
  // By token too: a lease that was lost may come back to this process while its old run is still ending.
  const held = new Map<string, { taskId: string; worker: string; jobId: string }>();
  return {
    add: (claim, worker, jobId) => void held.set(claimKey(claim), { taskId: claim.taskId, worker, jobId }),
    drop: (claim) => void held.delete(claimKey(claim)),
    jobOf: (claim) => held.get(claimKey(claim))?.jobId,
    tasksOf: (worker) => [...held.values()].flatMap((one) => (one.worker === worker ? [one.taskId] : [])),
  };
}
