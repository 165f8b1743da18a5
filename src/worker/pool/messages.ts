/** What a supervisor and its worker processes say to each other, over the channel between them. */
import type { TaskKind } from "../../domain/task.ts";
import type { ErrorCode } from "../../errors.ts";
import type { WorkerOrder } from "../../frontier/frontier.ts";
import type { Snapshot } from "../../runtime/metrics.ts";
import type { WorkerTally } from "../worker.ts";

export type TaskUnderWay = {
  jobId: string;
  taskId: string;
  token: number;
  url: string;
  step: TaskKind;
  attempt: number;
  /** It is a suspect (F6), and nothing runs beside it: whoever dies now dies of it. */
  isAlone: boolean;
};

/** What a worker process tells its supervisor. */
export type ChildMessage =
  /** The first: who it is, before it leases anything. */
  | { kind: "hello"; worker: string }
  /**
   * What has happened to tasks since, and what was settled so far, at every change. `reading`: their pages are with a
   * handler now. That and `ended` have `claimKey`s.
   */
  | {
      kind: "tasks";
      began: readonly TaskUnderWay[];
      reading: readonly string[];
      ended: readonly string[];
      tally: WorkerTally;
    }
  /** Of a server: where it is to be found. */
  | { kind: "listening"; url: string; hasDashboard: boolean }
  /** Every `PULSE_MS`: a process that is silent for longer is stuck. */
  | { kind: "pulse"; rssMb: number; metrics?: Snapshot | undefined }
  | { kind: "finished"; jobId: string }
  | { kind: "heldUp"; jobIds: readonly string[] }
  /** It takes no more tasks, and ends when those it has are over: another may take its place. */
  | { kind: "retiring" }
  /** Nothing is left to do: nobody is to take its place. */
  | { kind: "drained" }
  /** An operator asks something of it, and with `drain-all` of all of them. */
  | { kind: "ordered"; order: WorkerOrder }
  /** The last: it ends because it was to, and not because of what a handler did. */
  | { kind: "over"; tally: WorkerTally }
  /** The last, too: it cannot work at all, and the next one could not either. Its broker is lost, say. */
  | { kind: "failed"; failure: ChildFailure }
  /** The last, too: it lacks something that others may do without, and that a later one may find: a browser, a port. */
  | { kind: "lacking"; lack: ChildFailure };

/** What keeps a process from its work. */
export type ChildFailure = { code: ErrorCode; message: string };

/** What a supervisor tells a worker process: to stop, as the first signal does; or to take no more tasks. */
export type SupervisorMessage = { kind: "stop" | "retire" };

export const PULSE_MS = 1_000;
