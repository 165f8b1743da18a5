/** Decides whether the supervisor must kill a worker process, and why. The supervisor itself decides `stop_timeout`. */
import { PULSE_MS } from "./messages.ts";

export type KillReason = "time_limit" | "stuck" | "memory" | "stop_timeout";

type ChildState = {
  lastMessageAt: number;
  rssMb: number;
  underWay: readonly { beganAt: number; isReading: boolean }[];
};

export type ChildLimits = {
  timeLimitMs: number;
  maxMemoryMb: number;
  /**
   * A process with running tasks that is silent for longer than this is killed, even if its tasks have time left.
   * Otherwise, the leases of its tasks would expire.
   */
  stuckMs: number;
};

/**
 * A process whose event loop is not blocked sends a message every PULSE_MS, and aborts its late tasks itself. On an
 * overloaded machine, the messages arrive late. Tasks must not fail for this reason, so a process counts as silent only
 * after several intervals.
 */
const SILENT_MS = 5 * PULSE_MS;
/**
 * Above its memory limit, a process finishes its tasks and exits. Above this multiple of the limit, it is killed, so
 * that the machine does not run out of memory.
 */
const KILL_FACTOR = 2;

/** Returns undefined if the process may continue. */
export function findKillReason(child: ChildState, limits: ChildLimits, now: number): KillReason | undefined {
  if (child.rssMb > limits.maxMemoryMb * KILL_FACTOR) return "memory";
  // If a task is late but its process sends messages, the process has aborted the task and waits for the broker or the
  // store. Killing the process would not help.
  if (!isSilent(child, now) || child.underWay.length === 0) return undefined;
  const isLate = candidatesOf(child.underWay).some(({ beganAt }) => now - beganAt > limits.timeLimitMs);
  if (isLate) return "time_limit";
  return now - child.lastMessageAt > limits.stuckMs ? "stuck" : undefined;
}

/** Whether a process has stopped sending messages. Such a process does not process messages either. */
export function isSilent({ lastMessageAt }: Pick<ChildState, "lastMessageAt">, now: number): boolean {
  return now - lastMessageAt > SILENT_MS;
}

/**
 * The tasks that may have blocked or killed their process: the tasks whose page is being processed, or all tasks if no
 * page is being processed. A task that waits for its site does not block or kill its process.
 */
export function candidatesOf<T extends { isReading: boolean }>(underWay: readonly T[]): readonly T[] {
  const reading = underWay.filter(({ isReading }) => isReading);
  return reading.length > 0 ? reading : underWay;
}
