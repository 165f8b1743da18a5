/** Lets a worker retire when its process has grown too large. */
import { clearInterval, setInterval } from "node:timers";
import { MB_BYTES } from "../../runtime/process-memory.ts";
import type { Service } from "../../runtime/service.ts";
import type { Worker } from "../../worker/worker.ts";

const LOOK_MS = 1_000;

export function createMemoryWatch(worker: Pick<Worker, "retire">, { mostMb }: { mostMb: number }): Service {
  let timer: NodeJS.Timeout | undefined;
  return {
    start() {
      if (mostMb === Number.POSITIVE_INFINITY) return;
      timer ??= setInterval(() => ownRssMb() > mostMb && worker.retire(), LOOK_MS);
    },
    async stop() {
      clearInterval(timer);
    },
  };
}

/** Megabytes that this process has in memory. */
export function ownRssMb(): number {
  return process.memoryUsage.rss() / MB_BYTES;
}
