/** Returns tasks of lost workers to the frontier: expired leases, and leases of processes that are known to be dead. */
import { isTrawlError } from "../../errors.ts";
import type { Frontier } from "../../frontier/frontier.ts";
import type { FrontierAdmin } from "../../frontier/frontier-admin.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Service } from "../../runtime/service.ts";

type Deps = {
  frontier: Pick<Frontier, "reap" | "abandon"> & Pick<FrontierAdmin, "listHolders">;
  /** False only if the worker is certainly dead: it was a process of this machine, and that process no longer runs. */
  mayBeAlive(worker: string): boolean;
  /** Called if the broker cannot be written. A busy worker notices that by itself, an idle worker does not. */
  onLost(cause: unknown): void;
  clock: Clock;
  log: Log;
};
type ReaperOptions = { everyMs: number; batch: number };

export function createReaper(deps: Deps, { everyMs, batch }: ReaperOptions): Service {
  const { frontier, mayBeAlive, onLost, clock, log } = deps;
  const stopping = new AbortController();
  let loop: Promise<void> | undefined;

  async function sweepUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      // A failed sweep is only a delay: the next sweep finds the same leases.
      await sweep().catch((cause: unknown) => {
        log.warn("reaper.sweep_failed", { cause });
        if (isTrawlError(cause, "BROKER_UNREACHABLE")) onLost(cause);
      });
      await clock.sleep(everyMs, stopping.signal);
    }
  }

  async function sweep(): Promise<void> {
    for (const { worker } of await frontier.listHolders()) {
      if (mayBeAlive(worker)) continue;
      const tasks = await frontier.abandon(worker);
      log.info("reaper.worker_lost", { worker, tasks });
    }
    await frontier.reap(batch);
  }

  return {
    start: () => {
      loop ??= sweepUntilStopped();
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}
