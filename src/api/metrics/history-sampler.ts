/**
 * Writes the number of waiting URLs, tasks in progress and workers to the history, every `everyMs`. Several servers may
 * write the same bucket; the last write wins. A failed read leaves a gap.
 */
import { paceOut } from "../../control/views/history.ts";
import type { FrontierAdmin } from "../../frontier/frontier-admin.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Service } from "../../runtime/service.ts";
import type { HistoryStore } from "../../store/history-store.ts";

type Deps = {
  frontier: Pick<FrontierAdmin, "listQueues" | "listWorkers">;
  history: Pick<HistoryStore, "setGauges">;
  clock: Clock;
  log: Log;
};

export function createHistorySampler(
  { frontier, history, clock, log }: Deps,
  { everyMs }: { everyMs: number },
): Service {
  const stopping = new AbortController();
  let loop: Promise<void> | undefined;

  async function sampleUntilStopped(): Promise<void> {
    for (;;) {
      await clock.sleep(everyMs, stopping.signal);
      if (stopping.signal.aborted) return;
      await sample().catch((cause: unknown) => log.warn("history.sample_failed", { cause }));
    }
  }

  async function sample(): Promise<void> {
    const [queues, workers] = await Promise.all([frontier.listQueues(), frontier.listWorkers()]);
    const now = clock.now();
    const { waiting, inFlight } = paceOut(queues, workers, now);
    await history.setGauges(now, { waiting, inFlight, workers: workers.length });
  }

  return {
    start: () => {
      loop ??= sampleUntilStopped();
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}
