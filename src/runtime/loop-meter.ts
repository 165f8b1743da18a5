import { type EventLoopUtilization, performance } from "node:perf_hooks";

/** Minimum interval of a measurement. Over a shorter interval the result is almost always 0 or 1. */
const MIN_MS = 1_000;

/**
 * Returns a function that reads the event loop utilization since the last measurement, from 0 to 1. Its cost is
 * negligible.
 */
export function createLoopMeter(): () => number {
  let last: EventLoopUtilization = performance.eventLoopUtilization();
  let known = 0;
  return () => {
    const now = performance.eventLoopUtilization();
    const { idle, active, utilization } = performance.eventLoopUtilization(now, last);
    if (idle + active < MIN_MS) return known;
    last = now;
    known = utilization;
    return known;
  };
}
