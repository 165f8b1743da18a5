import { type EventLoopUtilization, performance } from "node:perf_hooks";

/** How much of the time since it was last asked this process's thread was at work and not waiting, 0 to 1. Costs nothing. */
export function createLoopMeter(): () => number {
  let last: EventLoopUtilization = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
