/** Hands tasks whose worker vanished back to the frontier: expired leases, and those of processes known to be dead. */
import type { Frontier } from "../frontier/frontier.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Service } from "../runtime/service.ts";

type Deps = {
  frontier: Pick<Frontier, "reap" | "abandon"> & Pick<FrontierAdmin, "listHolders">;
  /** False only when it is certain: a process of this machine that no longer runs. */
  mayBeAlive(worker: string): boolean;
  clock: Clock;
  log: Log;
};
export type ReaperOptions = { everyMs: number; batch: number };

export function createReaper({ frontier, mayBeAlive, clock, log }: Deps, { everyMs, batch }: ReaperOptions): Service {
  const stopping = new AbortController();
  let loop: Promise<void> | undefined;

  async function sweepUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      // A failed sweep is only late work: the next one finds the same leases.
      await sweep().catch((cause: unknown) => log.warn("reaper.sweep_failed", { cause }));
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
