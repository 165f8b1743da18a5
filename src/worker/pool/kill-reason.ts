/** Decides whether the supervisor must kill a worker process, and why. */
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
   * A process that is silent for longer is killed, whatever the time limits of its tasks, because its leases will
   * expire.
   */
  stuckMs: number;
};

/**
 * A process whose event loop runs sends a message every PULSE_MS, and ends late tasks itself. On an overloaded machine
 * the messages arrive late. Its tasks must not fail because of that, so a process counts as silent only after several
 * intervals.
 */
const SILENT_MS = 5 * PULSE_MS;
/**
 * Above its memory limit, a process finishes its tasks and ends by itself. Above this multiple it endangers the
 * machine.
 */
const KILL_FACTOR = 2;

/** Undefined if the process may continue. */
export function findKillReason(child: ChildState, limits: ChildLimits, now: number): KillReason | undefined {
  if (child.rssMb > limits.maxMemoryMb * KILL_FACTOR) return "memory";
  // A late process that still sends messages waits for the broker or the store. Killing it would not help.
  if (!isSilent(child, now) || child.underWay.length === 0) return undefined;
  const isLate = candidatesOf(child.underWay).some(({ beganAt }) => now - beganAt > limits.timeLimitMs);
  if (isLate) return "time_limit";
  return now - child.lastMessageAt > limits.stuckMs ? "stuck" : undefined;
}

/** Whether a process has stopped sending messages. It would not process a message either. */
export function isSilent({ lastMessageAt }: Pick<ChildState, "lastMessageAt">, now: number): boolean {
  return now - lastMessageAt > SILENT_MS;
}

/**
 * The tasks that may have blocked or killed their process: the tasks whose page is being read, or all tasks if there is
 * no such task. A task that waits for a site cannot block or kill its process.
 */
export function candidatesOf<T extends { isReading: boolean }>(underWay: readonly T[]): readonly T[] {
  const read = underWay.filter(({ isReading }) => isReading);
  return read.length > 0 ? read : underWay;
}
