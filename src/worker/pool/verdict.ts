/** Whether a worker process has to be killed, and why. */
import { PULSE_MS } from "./messages.ts";

export type KillReason = "time_limit" | "memory" | "stop_timeout";

export type ChildState = {
  heardAt: number;
  rssMb: number;
  underWay: readonly { beganAt: number }[];
};

export type ChildLimits = { timeLimitMs: number; maxMemoryMb: number };

/** A process that lets its event loop go round is heard of every PULSE_MS, and ends its late tasks itself. */
const SILENT_MS = 2 * PULSE_MS;
/** Past its limit a process ends by itself, once its tasks are over; this far past it, it would take others with it. */
const FAR_PAST = 2;

/** Undefined: it may live. */
export function judgeChild(child: ChildState, limits: ChildLimits, now: number): KillReason | undefined {
  if (child.rssMb > limits.maxMemoryMb * FAR_PAST) return "memory";
  // Late but talking, it waits for a broker or a store: killing it would help nobody.
  const isStuck = now - child.heardAt > SILENT_MS;
  const isLate = child.underWay.some(({ beganAt }) => now - beganAt > limits.timeLimitMs);
  return isStuck && isLate ? "time_limit" : undefined;
}
