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
  /** A process that is silent for longer loses the leases of all its tasks, whatever their time limits. */
  stuckMs: number;
};

/**
 * A process whose event loop runs sends a message every PULSE_MS, and ends late tasks itself. On an overloaded machine its
 * messages come late, which its pages must not pay for.
 */
const SILENT_MS = 5 * PULSE_MS;
/** Above its memory limit a process ends by itself after its tasks. At this multiple it endangers the machine. */
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

/** Whether a process sends no messages, and so would not receive one either. */
export function isSilent({ lastMessageAt }: Pick<ChildState, "lastMessageAt">, now: number): boolean {
  return now - lastMessageAt > SILENT_MS;
}

/** The tasks that may have caused the state of their process: those being read, if any. Waiting for a site causes nothing. */
export function candidatesOf<T extends { isReading: boolean }>(underWay: readonly T[]): readonly T[] {
  const read = underWay.filter(({ isReading }) => isReading);
  return read.length > 0 ? read : underWay;
}
