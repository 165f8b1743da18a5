/**
 * Decides how many tasks a worker holds, started or not. Tasks that are granted ahead of their time make lease calls
 * rare, but no other worker can run them. So the number doubles with every call as long as the worker starts all tasks
 * in time. Otherwise it falls to the number of tasks that the worker starts in about two seconds.
 */
import type { Clock } from "../../runtime/clock.ts";

type Demand = {
  started(): void;
  /**
   * The maximum number of tasks to hold now. `isBehind`: since the last call, some tasks could not be started in time.
   */
  most(isBehind: boolean): number;
};

const WINDOW_MS = 500;
const MAX_HELD = 4_000;
/**
 * A worker that is behind holds tasks for this long: the duration of a term. With fewer tasks, it could not use its
 * full speed.
 */
const BEHIND_SECONDS = 2;

export function createDemand(clock: Pick<Clock, "now">, { concurrency }: { concurrency: number }): Demand {
  let windowAt = clock.now();
  let started = 0;
  let perSecond = 0;
  let held = concurrency;
  return {
    started() {
      started += 1;
    },
    most(isBehind) {
      const tookMs = clock.now() - windowAt;
      if (tookMs >= WINDOW_MS) {
        perSecond = (started / tookMs) * 1000;
        started = 0;
        windowAt = clock.now();
      }
      held = isBehind ? Math.max(concurrency, Math.ceil(perSecond * BEHIND_SECONDS)) : Math.min(MAX_HELD, held * 2);
      return held;
    },
  };
}
