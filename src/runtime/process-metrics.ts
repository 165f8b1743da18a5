/** What a process costs: memory, processor, how late its event loop is, and what it has open. */
import { createMetrics, type Declarations, type Snapshot } from "./metrics.ts";
import type { Service } from "./service.ts";

export const PROCESS_METRICS = {
  trawl_process_resident_memory_bytes: { type: "gauge", help: "Memory of all processes together." },
  trawl_process_resident_memory_max_bytes: { type: "gauge", merge: "max", help: "Memory of the largest process." },
  trawl_process_cpu_seconds_total: { type: "counter", help: "Processor time of all processes together." },
  trawl_process_event_loop_lag_seconds: {
    type: "histogram",
    help: "How late timers were, looked at twice a second.",
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  trawl_process_open_handles: { type: "gauge", help: "Sockets, timers and other things that keep processes alive." },
} as const satisfies Declarations;

export type ProcessMetrics = Service & { snapshot(): Snapshot };

const LOOK_MS = 500;

export function createProcessMetrics(): ProcessMetrics {
  const metrics = createMetrics(PROCESS_METRICS);
  let timer: NodeJS.Timeout | undefined;
  let cpuUsed = 0;

  function look(dueAt: number): void {
    const now = performance.now();
    metrics.observe("trawl_process_event_loop_lag_seconds", Math.max(0, now - dueAt) / 1000);
    lookAgain();
  }

  function lookAgain(): void {
    timer = setTimeout(look, LOOK_MS, performance.now() + LOOK_MS);
    timer.unref();
  }

  return {
    start: () => {
      if (timer === undefined) lookAgain();
    },
    stop: async () => clearTimeout(timer),
    snapshot() {
      const rss = process.memoryUsage.rss();
      metrics.set("trawl_process_resident_memory_bytes", rss);
      metrics.set("trawl_process_resident_memory_max_bytes", rss);
      metrics.set("trawl_process_open_handles", process.getActiveResourcesInfo().length);
      const { user, system } = process.cpuUsage();
      const cpu = (user + system) / 1e6;
      metrics.add("trawl_process_cpu_seconds_total", cpu - cpuUsed);
      cpuUsed = cpu;
      return metrics.snapshot();
    },
  };
}
