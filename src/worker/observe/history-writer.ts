/**
 * Counts settled attempts in memory, and adds the counts to the history in the store every `everyMs`. Counting is a few
 * additions per result. A crash loses the counts since the last write. If the store cannot be written, the counts are
 * kept and written later, up to `MAX_BUCKETS` buckets.
 */
import { latencyBucket } from "../../domain/latency.ts";
import type { Recent } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Service } from "../../runtime/service.ts";
import {
  addWork,
  BUCKET_WIDTHS_MS,
  bucketStart,
  type HistoryStore,
  noWork,
  type WorkCounts,
} from "../../store/history-store.ts";
import type { Attempt, SettledAttempt, TaskObserver } from "./task-observer.ts";

export type HistoryWriter = Service & {
  observer: TaskObserver;
  /** The counts of about the last 10 seconds. */
  recent(): Recent;
};

type Deps = { history: Pick<HistoryStore, "add">; clock: Clock; log: Log };

/** The maximum number of buckets that wait for the store. Older ones are dropped. */
const MAX_BUCKETS = 360;
/** The time limit of the last write, so that a lost store does not delay the shutdown. */
const LAST_WRITE_MS = 2_000;
/** `recent` adds up two halves. A half ends with the first call after this time. */
const HALF_MS = 5_000;

type Half = { since: number; counts: WorkCounts };

export function createHistoryWriter({ history, clock, log }: Deps, { everyMs }: { everyMs: number }): HistoryWriter {
  const stopping = new AbortController();
  const waiting = new Map<number, WorkCounts>();
  let loop: Promise<void> | undefined;
  let now: Half = { since: clock.now(), counts: noWork() };
  let before: Half | undefined;

  function count({ leasedAt, endedAt }: Attempt, { settlement, state }: SettledAttempt): void {
    const at = bucketStart(clock.now(), BUCKET_WIDTHS_MS[0]);
    const bucket = waiting.get(at) ?? noWork();
    waiting.set(at, bucket);
    rotateHalves();
    const latency = latencyBucket(endedAt - leasedAt);
    for (const counts of [bucket, now.counts]) {
      const { pages, records, bytes } = settlement.tally;
      counts.pages += pages;
      counts.records += records;
      counts.bytes += bytes;
      counts[state === "done" || state === "refused" ? "done" : "failed"] += 1;
      if (state === "dead") counts.dead += 1;
      counts.latencies[latency] = (counts.latencies[latency] ?? 0) + 1;
    }
  }

  function rotateHalves(): void {
    const at = clock.now();
    if (at - now.since < HALF_MS) return;
    // If the worker was idle for long, the last half is too old to be counted.
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
    const buckets = [...waiting].map(([at, counts]) => ({ at, counts }));
    waiting.clear();
    try {
      await history.add(buckets);
    } catch (cause) {
      log.warn("worker.history_not_stored", { cause }); // a gap in the charts until the next write
      for (const { at, counts } of buckets.slice(-MAX_BUCKETS)) putBack(at, counts);
    }
  }

  function putBack(at: number, counts: WorkCounts): void {
    const since = waiting.get(at);
    if (since !== undefined) addWork(counts, since);
    waiting.set(at, counts);
  }

  return {
    observer: { settled: count },
    recent() {
      rotateHalves();
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
      await Promise.race([writing, clock.sleep(LAST_WRITE_MS, done.signal)]);
    },
  };
}
