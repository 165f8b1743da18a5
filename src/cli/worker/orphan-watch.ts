/**
 * Kills a worker process whose supervisor has died. A handler that blocks the event loop also blocks the "disconnect"
 * event of the channel, so a separate thread polls the parent process id.
 */
import { Worker } from "node:worker_threads";
import type { Service } from "../../runtime/service.ts";

/** The script of the thread. It detects the death of the parent by the parent process id, which then changes. */
const WATCH_SCRIPT = `
  const { workerData: { parentPid, afterMs, everyMs } } = require("node:worker_threads");
  const timer = setInterval(() => {
    if (process.ppid === parentPid) return;
    clearInterval(timer);
    setTimeout(() => process.kill(process.pid, "SIGKILL"), afterMs);
  }, everyMs);
`;
const POLL_MS = 1_000;
const HEAP_MB = 8;

/** Kills this process `afterMs` after its supervisor has died, unless it has exited before. */
export function createOrphanWatch({ afterMs }: { afterMs: number }): Service {
  const workerData = { parentPid: process.ppid, afterMs, everyMs: POLL_MS };
  let thread: Worker | undefined;
  return {
    start() {
      if (thread !== undefined) return;
      thread = new Worker(WATCH_SCRIPT, {
        eval: true,
        workerData,
        resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      });
      thread.on("error", () => {}); // without the thread, only a blocked process would keep running
      thread.unref();
    },
    async stop() {
      await thread?.terminate();
    },
  };
}
