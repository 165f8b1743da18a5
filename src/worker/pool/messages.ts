/** What a supervisor and its worker processes say to each other, over the channel between them. */
import type { WorkerTally } from "../worker.ts";

export type TaskUnderWay = { taskId: string; token: number; url: string };

/** What a worker process tells its supervisor. */
export type ChildMessage =
  /** The first: who it is, before it leases anything. */
  | { kind: "hello"; worker: string }
  /** Tasks that have begun and ended since, and what was settled so far, at every change; `ended` has `taskKey`s. */
  | { kind: "tasks"; began: readonly TaskUnderWay[]; ended: readonly string[]; tally: WorkerTally }
  /** Every `PULSE_MS`: a process that is silent for longer is stuck. */
  | { kind: "pulse"; rssMb: number }
  | { kind: "finished"; jobId: string }
  | { kind: "heldUp"; jobIds: readonly string[] }
  /** It takes no more tasks, and ends when those it has are over: another may take its place. */
  | { kind: "retiring" }
  /** Nothing is left to do: nobody is to take its place. */
  | { kind: "drained" }
  /** The last: it ends because it was to, and not because of what a handler did. */
  | { kind: "over"; tally: WorkerTally };

/** What a supervisor tells a worker process: to stop, as the first signal does. */
export type SupervisorMessage = { kind: "stop" };

export const PULSE_MS = 1_000;

export function taskKey({ taskId, token }: Pick<TaskUnderWay, "taskId" | "token">): string {
  return `${taskId} ${token}`;
}
