/** Retires a worker when its process exceeds a memory limit. */
import { clearInterval, setInterval } from "node:timers";
import { MB_BYTES } from "../../runtime/process-memory.ts";
import type { Service } from "../../runtime/service.ts";
import type { Worker } from "../../worker/worker.ts";

const POLL_MS = 1_000;

export function createMemoryWatch(worker: Pick<Worker, "retire">, { maxMb }: { maxMb: number }): Service {
  let timer: NodeJS.Timeout | undefined;
  return {
    start() {
      if (maxMb === Number.POSITIVE_INFINITY) return;
      timer ??= setInterval(() => ownRssMb() > maxMb && worker.retire(), POLL_MS);
    },
    async stop() {
      clearInterval(timer);
    },
  };
}

/** The resident memory of this process. */
export function ownRssMb(): number {
  return process.memoryUsage.rss() / MB_BYTES;
}
