/**
 * Counts what a worker brings to an end, in memory, and adds it to the store's history every `everyMs`. Called for every
 * result, so counting is a few additions. A crash loses what was counted since the last time; a store that cannot be
 * written gets it later, as far as it is still remembered.
 */
import { latencyBucket } from "../domain/latency.ts";
import type { Recent } from "../frontier/frontier.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Service } from "../runtime/service.ts";
import { addWork, type HistoryBook, noWork, SLOT_WIDTHS_MS, slotAt, type WorkCounts } from "../store/history-book.ts";
import type { ToldResult } from "./teller.ts";

export type HistoryWriter = Service & {
  count(result: Pick<ToldResult, "settlement" | "fate" | "tookMs">): void;
  /** What was done in the last seconds. */
  recent(): Recent;
};

type Deps = { history: Pick<HistoryBook, "add">; clock: Clock; log: Log };

/** Slots that wait for a store to come back; older ones are forgotten. */
const SLOTS_MOST = 360;
/** A store that is gone must not hold up the end. */
const LAST_WORDS_MS = 2_000;
/** What is recent is told from two halves of at most this. */
const HALF_MS = 5_000;

type Half = { since: number; counts: WorkCounts };

export function createHistoryWriter({ history, clock, log }: Deps, { everyMs }: { everyMs: number }): HistoryWriter {
  const stopping = new AbortController();
  const waiting = new Map<number, WorkCounts>();
  let loop: Promise<void> | undefined;
  let now: Half = { since: clock.now(), counts: noWork() };
  let before: Half | undefined;

  function count({ settlement, fate, tookMs }: Parameters<HistoryWriter["count"]>[0]): void {
    const at = slotAt(clock.now(), SLOT_WIDTHS_MS[0]);
    const slot = waiting.get(at) ?? noWork();
    waiting.set(at, slot);
    turn();
    const bucket = latencyBucket(tookMs);
    for (const counts of [slot, now.counts]) {
      const { pages, records, bytes } = settlement.tally;
      counts.pages += pages;
      counts.records += records;
      counts.bytes += bytes;
      counts[fate === "retry" || fate === "dead" ? "failed" : "done"] += 1;
      if (fate === "dead") counts.dead += 1;
      counts.latencies[bucket] = (counts.latencies[bucket] ?? 0) + 1;
    }
  }

  function turn(): void {
    const at = clock.now();
    if (at - now.since < HALF_MS) return;
    // Of a worker that had nothing to do, the last half is long over.
    before = at - now.since < 2 * HALF_MS ? now : { since: at - HALF_MS, counts: noWork() };
    now = { since: at, counts: noWork() };
  }

  async function writeUntilStopped(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(everyMs, stopping.signal);
      await write();
    }
  }

  async function write(): Promise<void> {
    if (waiting.size === 0) return;
    const slots = [...waiting].map(([at, counts]) => ({ at, counts }));
    waiting.clear();
    try {
      await history.add(slots);
    } catch (cause) {
      log.warn("worker.history_not_kept", { cause }); // only the charts have a gap, and that not for good
      for (const { at, counts } of slots.slice(-SLOTS_MOST)) putBack(at, counts);
    }
  }

  function putBack(at: number, counts: WorkCounts): void {
    const since = waiting.get(at);
    if (since !== undefined) addWork(counts, since);
    waiting.set(at, counts);
  }

  return {
    count,
    recent() {
      turn();
      const since = before?.since ?? now.since;
      const sum = noWork();
      for (const half of [before, now]) if (half !== undefined) addWork(sum, half.counts);
      const { pages, done, failed, latencies } = sum;
      const counted = [...latencies.entries()].filter(([, tasks]) => tasks > 0);
      return { ms: Math.round(clock.now() - since), pages, done, failed, latencies: counted };
    },
    start: () => {
      loop ??= writeUntilStopped();
    },
    stop: async () => {
      stopping.abort();
      const done = new AbortController();
      const writing = Promise.resolve(loop).finally(() => done.abort());
      await Promise.race([writing, clock.sleep(LAST_WORDS_MS, done.signal)]);
    },
  };
}
