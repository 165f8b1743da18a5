/** Counts the worker processes of a supervisor for Prometheus. */
import { createMetrics, type Snapshot } from "../../runtime/metrics.ts";
import { MB_BYTES } from "../../runtime/process-memory.ts";
import { POOL_METRICS } from "../observe/worker-metrics.ts";
import type { ChildDeath, Place, SupervisorEvents } from "./supervisor.ts";

type ProcessEvents = Pick<SupervisorEvents, "started" | "ended">;

type PoolMeter = {
  /** Wraps the events of a supervisor, and counts starts and ends. */
  count<Events extends ProcessEvents>(events: Events): Events;
  snapshot(processes: readonly Place[]): Snapshot;
};

type Options = { maxMemoryMb: number; isWorking(place: Place): boolean };

export function createPoolMeter({ maxMemoryMb, isWorking }: Options): PoolMeter {
  const metrics = createMetrics(POOL_METRICS);
  if (Number.isFinite(maxMemoryMb)) metrics.set("trawl_worker_memory_limit_bytes", maxMemoryMb * MB_BYTES);
  return {
    count: (events) => ({
      ...events,
      started(child) {
        if (isWorking(child)) metrics.add("trawl_worker_process_starts_total", 1);
        events.started(child);
      },
      ended(death) {
        if (isWorking(death)) metrics.add("trawl_worker_process_ends_total", 1, howItEnded(death));
        events.ended(death);
      },
    }),
    snapshot(processes) {
      metrics.set("trawl_worker_processes", processes.filter(isWorking).length);
      return metrics.snapshot();
    },
  };
}

function howItEnded({ exit, killed }: ChildDeath): string {
  if (exit.failure !== undefined || exit.problem !== undefined) return "unable";
  if (killed !== undefined) return killed;
  if (exit.isOutOfMemory) return "memory";
  return exit.isClean ? "ended" : "crashed";
}
