import { type EventLoopUtilization, performance } from "node:perf_hooks";

/** Of less than this nothing can be said: it would be all or nothing. */
const LEAST_MS = 1_000;

/** How much of the last seconds this process's thread was at work and not waiting, 0 to 1. Costs nothing. */
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
