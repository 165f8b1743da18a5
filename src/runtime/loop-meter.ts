import { type EventLoopUtilization, performance } from "node:perf_hooks";

/** Minimum interval. Shorter ones would give only 0 or 1. */
const LEAST_MS = 1_000;

/** Utilization of the event loop over the last seconds, 0 to 1. Negligible cost. */
export function createLoopMeter(): () => number {
  let last: EventLoopUtilization = performance.eventLoopUtilization();
  let known = 0;
  return () => {
    const now = performance.eventLoopUtilization();
    const { idle, active, utilization } = performance.eventLoopUtilization(now, last);
    if (idle + active < LEAST_MS) return known;
    last = now;
    known = utilization;
    return known;
  };
}
