/** The claims that this process holds and has not settled. If the process crashes, their leases expire. */
import { type Claim, claimKey } from "../frontier.ts";

export type HeldClaims = {
  add(claim: Claim, worker: string, jobId: string): void;
  drop(claim: Claim): void;
  jobOf(claim: Claim): string | undefined;
  /** The tasks that a worker of this process holds. */
  tasksOf(worker: string): string[];
};

export function createHeldClaims(): HeldClaims {
  // Keyed by task and token: a task may be granted to this process again while an earlier run of it has not ended.
  const held = new Map<string, { taskId: string; worker: string; jobId: string }>();
  return {
    add: (claim, worker, jobId) => void held.set(claimKey(claim), { taskId: claim.taskId, worker, jobId }),
    drop: (claim) => void held.delete(claimKey(claim)),
    jobOf: (claim) => held.get(claimKey(claim))?.jobId,
    tasksOf: (worker) => [...held.values()].flatMap((one) => (one.worker === worker ? [one.taskId] : [])),
  };
}
