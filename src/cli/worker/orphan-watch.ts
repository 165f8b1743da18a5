/**
 * Ends a worker process whose supervisor is gone and which cannot see that: a handler that never lets go keeps it from
 * hearing that its channel has closed. A thread of its own looks, which nothing on the main one can hold up.
 */
import { Worker } from "node:worker_threads";
import type { Service } from "../../runtime/service.ts";

/** Its parent is another once the first has died. The thread holds nothing but a timer. */
const LOOK = `
  const { workerData: { parentPid, afterMs, everyMs } } = require("node:worker_threads");
  const looking = setInterval(() => {
    if (process.ppid === parentPid) return;
    clearInterval(looking);
    setTimeout(() => process.kill(process.pid, "SIGKILL"), afterMs);
  }, everyMs);
`;
const LOOK_MS = 1_000;
const HEAP_MB = 8;

/** Kills this process `afterMs` after its supervisor has died, unless it has ended by itself. */
export function createOrphanWatch({ afterMs }: { afterMs: number }): Service {
  const workerData = { parentPid: process.ppid, afterMs, everyMs: LOOK_MS };
  let thread: Worker | undefined;
  return {
    start() {
      if (thread !== undefined) return;
      thread = new Worker(LOOK, { eval: true, workerData, resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
      thread.on("error", () => {}); // without it only a process that is stuck is not ended
      thread.unref();
    },
    async stop() {
      await thread?.terminate();
    },
  };
}
