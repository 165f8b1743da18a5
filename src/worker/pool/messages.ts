/** The messages between a supervisor and its worker processes, over the IPC channel. */
import type { TaskKind } from "../../domain/task.ts";
import type { ErrorCode } from "../../errors.ts";
import type { WorkerCommand } from "../../frontier/frontier.ts";
import type { Snapshot } from "../../runtime/metrics.ts";
import type { WorkerTally } from "../worker.ts";

export type TaskUnderWay = {
  jobId: string;
  taskId: string;
  token: number;
  url: string;
  step: TaskKind;
  attempt: number;
  /** The task is a suspect (F6) and nothing else runs: if the process dies now, the task is the cause. */
  isAlone: boolean;
};

/** Messages of a worker process to its supervisor. */
export type ChildMessage =
  /** The first message, before the process leases anything. */
  | { kind: "hello"; worker: string }
  /**
   * Sent at every change. `began`: tasks leased since the last message. `reading`: tasks whose page is about to be
   * passed to a handler. `ended`: tasks that have ended. `tally`: the counts so far. `reading` and `ended` contain
   * `claimKey`s.
   */
  | {
      kind: "tasks";
      began: readonly TaskUnderWay[];
      reading: readonly string[];
      ended: readonly string[];
      tally: WorkerTally;
    }
  /** From a server process: its address. */
  | { kind: "listening"; url: string; hasDashboard: boolean }
  /** Sent every `PULSE_MS`. A process that sends nothing for several of these intervals is stuck. */
  | { kind: "pulse"; rssMb: number; metrics?: Snapshot | undefined }
  /** Sent in a crawl when a selector that a spider passes to `follow` is first used, and when it first matches. */
  | { kind: "selector"; selector: string; hasMatched: boolean }
  | { kind: "finished"; jobId: string }
  /** All waiting tasks belong to these paused jobs. */
  | { kind: "heldUp"; jobIds: readonly string[] }
  /** The process leases no more tasks and ends when its running tasks have ended. The next process may start. */
  | { kind: "retiring" }
  /** Nothing is left to do: do not start another process in its place. */
  | { kind: "drained" }
  /** An operator sent a command to this worker; `drain-all` is for all workers of the supervisor. */
  | { kind: "command"; command: WorkerCommand }
  /** The last message of a process that ends regularly. It is missing if a handler ended the process. */
  | { kind: "over"; tally: WorkerTally }
  /**
   * The last message of a process that cannot work, for a reason that would stop its replacement too, such as a lost
   * broker.
   */
  | { kind: "failed"; failure: ChildFailure }
  /**
   * The last message of a process that cannot work now, although a later process may work. For example, there is no
   * browser, or the port is in use.
   */
  | { kind: "unavailable"; problem: ChildFailure };

/** Why a process cannot work. */
export type ChildFailure = { code: ErrorCode; message: string };

/** Messages of a supervisor to a worker process: stop, as on the first signal, or retire. */
export type SupervisorMessage = { kind: "stop" | "retire" };

export const PULSE_MS = 1_000;
