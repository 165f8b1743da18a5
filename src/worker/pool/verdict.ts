/** Whether a worker process has to be killed, and why. */
import { PULSE_MS } from "./messages.ts";

export type KillReason = "time_limit" | "stuck" | "memory" | "stop_timeout";

export type ChildState = {
  heardAt: number;
  rssMb: number;
  underWay: readonly { beganAt: number; isReading: boolean }[];
};

export type ChildLimits = {
  timeLimitMs: number;
  maxMemoryMb: number;
  /** Silent for so long, it loses the leases of all its tasks, whatever their limit is. */
  stuckMs: number;
};

/**
 * A process that lets its event loop go round is heard of every PULSE_MS, and ends its late tasks itself. On a machine with
 * far more to do than it can it is heard of late, which is no fault of its pages.
 */
const SILENT_MS = 5 * PULSE_MS;
/** Past its limit a process ends by itself, once its tasks are over; this far past it, it would take others with it. */
const FAR_PAST = 2;

/** Undefined: it may live. */
export function judgeChild(child: ChildState, limits: ChildLimits, now: number): KillReason | undefined {
  if (child.rssMb > limits.maxMemoryMb * FAR_PAST) return "memory";
  // Late but talking, it waits for a broker or a store: killing it would help nobody.
  if (!isSilent(child, now) || child.underWay.length === 0) return undefined;
  const isLate = suspectsOf(child.underWay).some(({ beganAt }) => now - beganAt > limits.timeLimitMs);
  if (isLate) return "time_limit";
  return now - child.heardAt > limits.stuckMs ? "stuck" : undefined;
}

/** Whether a process that is to stop, and has had its time, will never hear of it. */
export function isSilent({ heardAt }: Pick<ChildState, "heardAt">, now: number): boolean {
  return now - heardAt > SILENT_MS;
}

/** Of what a process has in hand, what may be to blame for its state: a page that only waits for its site is not. */
export function suspectsOf<T extends { isReading: boolean }>(underWay: readonly T[]): readonly T[] {
  const read = underWay.filter(({ isReading }) => isReading);
  return read.length > 0 ? read : underWay;
}
