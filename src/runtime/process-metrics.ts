/** Metrics of a process: memory, CPU time, event loop lag and open handles. */
import { createMetrics, type Declarations, type Snapshot } from "./metrics.ts";
import type { Service } from "./service.ts";

export const PROCESS_METRICS = {
  trawl_process_resident_memory_bytes: { type: "gauge", help: "Resident memory of all processes." },
  trawl_process_resident_memory_max_bytes: {
    type: "gauge",
    merge: "max",
    help: "Resident memory of the largest process.",
  },
  trawl_process_cpu_seconds_total: { type: "counter", help: "CPU time of all processes." },
  trawl_process_event_loop_lag_seconds: {
    type: "histogram",
    help: "Delay of the event loop, measured with a timer twice per second.",
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  trawl_process_open_handles: { type: "gauge", help: "Open sockets, timers and other handles of all processes." },
} as const satisfies Declarations;

export type ProcessMetrics = Service & { snapshot(): Snapshot };

const SAMPLE_MS = 500;

export function createProcessMetrics(): ProcessMetrics {
  const metrics = createMetrics(PROCESS_METRICS);
  let timer: NodeJS.Timeout | undefined;
  let cpuUsed = 0;

  function sampleLag(dueAt: number): void {
    const now = performance.now();
    metrics.observe("trawl_process_event_loop_lag_seconds", Math.max(0, now - dueAt) / 1000);
    scheduleSample();
  }

  function scheduleSample(): void {
    timer = setTimeout(sampleLag, SAMPLE_MS, performance.now() + SAMPLE_MS);
    timer.unref();
  }

  return {
    start: () => {
      if (timer === undefined) scheduleSample();
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
