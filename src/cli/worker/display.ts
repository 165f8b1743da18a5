/** Shows on a terminal, every second, what is under way. */
import { clearInterval, setInterval } from "node:timers";
import type { Clock } from "../../runtime/clock.ts";
import type { Service } from "../../runtime/service.ts";
import type { Supervisor } from "../../worker/pool/supervisor.ts";
import type { Worker } from "../../worker/worker.ts";
import type { Voice } from "./voice.ts";

const SHOW_MS = 1_000;

type Shown = Pick<Worker, "tally" | "busy"> & Partial<Pick<Supervisor, "processes">>;

/** Of a worker, or of all that a supervisor has. */
export function createDisplay(shown: Shown, clock: Clock, { progress }: Voice): Service {
  let timer: NodeJS.Timeout | undefined;
  let before = { at: clock.now(), tasks: 0 };
  function show(): void {
    const [at, tally] = [clock.now(), shown.tally()];
    const perSecond = ((tally.tasks - before.tasks) / Math.max(1, at - before.at)) * 1000;
    before = { at, tasks: tally.tasks };
    progress({ ...tally, perSecond, busy: shown.busy(), processes: shown.processes?.() ?? [] });
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

/** Where there is nobody to show it to. */
export const NO_DISPLAY: Service = { start: () => {}, stop: async () => {} };
