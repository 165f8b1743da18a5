/** Updates the progress line of a worker on a terminal, every second. */
import { clearInterval, setInterval } from "node:timers";
import type { Clock } from "../../runtime/clock.ts";
import type { Service } from "../../runtime/service.ts";
import type { Supervisor } from "../../worker/pool/supervisor.ts";
import type { Worker } from "../../worker/worker.ts";
import type { WorkerOutput } from "./worker-output.ts";

const SHOW_MS = 1_000;

type ProgressSource = Pick<Worker, "tally" | "busy"> & Partial<Pick<Supervisor, "processes">>;

/** `source`: a worker, or a supervisor with all its processes. */
export function createDisplay(source: ProgressSource, clock: Clock, { progress }: WorkerOutput): Service {
  let timer: NodeJS.Timeout | undefined;
  let before = { at: clock.now(), tasks: 0 };
  function show(): void {
    const [at, tally] = [clock.now(), source.tally()];
    const perSecond = ((tally.tasks - before.tasks) / Math.max(1, at - before.at)) * 1000;
    before = { at, tasks: tally.tasks };
    progress({ ...tally, perSecond, busy: source.busy(), processes: source.processes?.() ?? [] });
  }
  return {
    start() {
      timer ??= setInterval(show, SHOW_MS);
    },
    async stop() {
      clearInterval(timer);
    },
  };
}

/** Shows nothing. Used without a terminal. */
export const NO_DISPLAY: Service = { start: () => {}, stop: async () => {} };
