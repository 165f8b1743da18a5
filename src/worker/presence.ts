/**
 * Tells the frontier, every `everyMs`, that this worker is there and what it serves, and hears what is asked of it; takes it
 * back on the way out. A crash leaves an announcement that lapses by itself.
 */
import type { Frontier, Presence, WorkerOrder } from "../frontier/frontier.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Service } from "../runtime/service.ts";

type Deps = {
  frontier: Pick<Frontier, "announce" | "withdraw">;
  /** What is to be said now. */
  describe(): Presence;
  /** Each order is told once. */
  onOrder(order: WorkerOrder): void;
  clock: Clock;
  log: Log;
};

/** An announcement outlives two that failed or came late. */
const OUTLIVES = 3;

export function createPresence(
  { frontier, describe, onOrder, clock, log }: Deps,
  { everyMs }: { everyMs: number },
): Service {
  const stopping = new AbortController();
  let loop: Promise<void> | undefined;
  let isAnnounced = false;
  let heard: WorkerOrder | undefined;

  async function announceUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      const order = await announce();
      const isNews = order !== undefined && order !== heard;
      heard = order;
      // Whoever has given it sees at once that it was heard.
      if (isNews) onOrder(order);
      else await clock.sleep(everyMs, stopping.signal);
    }
    // Of a broker that was not there a moment ago nothing is to be had back: it would only hold up the end.
    if (isAnnounced) await withdraw();
  }

  async function announce(): Promise<WorkerOrder | undefined> {
    try {
      const order = await frontier.announce(describe(), everyMs * OUTLIVES);
      isAnnounced = true;
      return order;
    } catch (cause) {
      isAnnounced = false; // only others' view of us: the work itself goes on, or ends by its own failure
      log.warn("presence.announce_failed", { cause });
      return heard;
    }
  }

  async function withdraw(): Promise<void> {
    const { worker } = describe();
    await frontier.withdraw(worker).catch((cause: unknown) => log.warn("presence.withdraw_failed", { cause }));
  }

  return {
    start: () => {
      loop ??= announceUntilStopped();
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}
