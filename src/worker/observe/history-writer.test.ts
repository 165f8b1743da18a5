import { beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../test/model/manual-clock.ts";
import { latencyBucket, percentileMs } from "../../domain/latency.ts";
import { createLog } from "../../runtime/log.ts";
import type { BucketCounts } from "../../store/history-store.ts";
import { createHistoryWriter, type HistoryWriter } from "./history-writer.ts";
import type { Attempt, SettledAttempt } from "./task-observer.ts";

const EVERY_MS = 5_000;
const START = 1_750_000_000_000;

describe("the history of a worker", () => {
  let clock: ManualClock;
  let added: BucketCounts[];
  let failing: Error | undefined;
  let writer: HistoryWriter;
  beforeEach(() => {
    clock = createManualClock(START);
    [added, failing] = [[], undefined];
    const history = {
      async add(buckets: readonly BucketCounts[]) {
        if (failing !== undefined) throw failing;
        added.push(...buckets);
      },
    };
    writer = createHistoryWriter({ history, clock, log: createLog("silent", () => {}) }, { everyMs: EVERY_MS });
  });

  function ended(state: SettledAttempt["state"], tookMs = 100): void {
    const tally = state === "done" ? { pages: 1, records: 2, invalid: 0, bytes: 1_000 } : NOTHING;
    const attempt = { leasedAt: START, endedAt: START + tookMs } as Attempt;
    writer.observer.settled?.(attempt, { settlement: { tally }, state } as SettledAttempt);
  }
  const NOTHING = { pages: 0, records: 0, invalid: 0, bytes: 0 };
  /** Lets pending callbacks run. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it("is written every few seconds, to the buckets in which tasks ended, and once more on stop", async () => {
    writer.start();
    ended("done");
    ended("retry");
    clock.advance(EVERY_MS);
    await settled();
    expect(added).toMatchObject([
      { at: START, counts: { pages: 1, done: 1, failed: 1, dead: 0, records: 2, bytes: 1_000 } },
    ]);

    ended("dead");
    clock.advance(EVERY_MS - 1);
    ended("refused");
    clock.advance(1);
    await settled();
    expect(added.slice(1)).toMatchObject([{ at: START, counts: { pages: 0, done: 1, failed: 1, dead: 1 } }]);

    clock.advance(EVERY_MS);
    await settled();
    expect(added).toHaveLength(2); // nothing new
    ended("done");
    await writer.stop();
    expect(added.slice(2)).toMatchObject([{ at: START + 10_000, counts: { done: 1 } }]);
  });

  it("is written later if the store fails, and lost if the store never recovers", async () => {
    writer.start();
    failing = new Error("no store");
    ended("done");
    clock.advance(EVERY_MS);
    await settled();
    ended("done");
    failing = undefined;
    clock.advance(EVERY_MS);
    await settled();
    expect(added).toMatchObject([{ at: START, counts: { done: 2 } }]);

    failing = new Error("no store");
    ended("done");
    await writer.stop();
    expect(added).toHaveLength(1);
  });

  it("returns the counts of the last 5 to 10 seconds", () => {
    ended("done", 100);
    expect(writer.recent()).toMatchObject({ ms: 0, pages: 1, done: 1, failed: 0 });
    clock.advance(5_000);
    for (let count = 0; count < 9; count += 1) ended("done", 1_000);
    ended("retry", 1_000);
    clock.advance(2_000);

    const { ms, pages, done, failed, latencies } = writer.recent();
    expect({ ms, pages, done, failed }).toEqual({ ms: 7_000, pages: 10, done: 10, failed: 1 });
    const counts: number[] = [];
    for (const [bucket, tasks] of latencies) counts[bucket] = tasks;
    const half = percentileMs(
      Array.from(counts, (count) => count ?? 0),
      0.5,
    );
    expect(latencyBucket(Number(half))).toBe(latencyBucket(1_000));

    clock.advance(3_000);
    expect(writer.recent()).toMatchObject({ ms: 5_000, pages: 9, failed: 1 });
    clock.advance(60_000);
    expect(writer.recent()).toMatchObject({ ms: 5_000, pages: 0, done: 0, failed: 0, latencies: [] });
  });
});
