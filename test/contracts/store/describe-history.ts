/** The contract of every history store. The clauses are in src/store/history-store.ts. */
import { beforeEach, describe, expect, it } from "vitest";
import { latencyBucket } from "../../../src/domain/latency.ts";
import { BUCKET_WIDTHS_MS, type HistoryStore, noWork, type WorkCounts } from "../../../src/store/history-store.ts";
import { type ControlStoresFixture, withControlStores } from "./control-stores.ts";

const [FINE, , COARSE] = BUCKET_WIDTHS_MS;
/** A full hour. */
const HOUR = 500_000 * COARSE;

function work(counts: Partial<WorkCounts>, tookMs: readonly number[] = []): WorkCounts {
  const all = { ...noWork(), ...counts };
  for (const ms of tookMs) all.latencies[latencyBucket(ms)] = (all.latencies[latencyBucket(ms)] ?? 0) + 1;
  return all;
}

export function describeHistory(name: string, prepare: () => Promise<ControlStoresFixture>): void {
  const open = withControlStores(prepare);
  let history: HistoryStore;
  beforeEach(async () => {
    ({ history } = await open());
  });

  const all = (width: (typeof BUCKET_WIDTHS_MS)[number], from = history) => from.read(width, 0, 2 * HOUR, 100);

  describe(`history contract on ${name}`, () => {
    it("H1 adds counts to the buckets of every width, and every process can read them", async () => {
      const first = work({ pages: 2, done: 3, records: 5, bytes: 2 ** 40 }, [1, 10, 10]);
      const second = work({ pages: 1, done: 1, failed: 2, dead: 1 }, [10, 99_999_999]);
      await history.add([{ at: HOUR, counts: first }]);
      await history.add([
        { at: HOUR, counts: second },
        { at: HOUR + FINE, counts: second },
        { at: HOUR + COARSE, counts: first },
      ]);

      const { history: other } = await open();
      const sum = work(
        { pages: 3, done: 4, failed: 2, dead: 1, records: 5, bytes: 2 ** 40 },
        [1, 10, 10, 10, 99_999_999],
      );
      expect(await all(FINE, other)).toEqual([
        { at: HOUR, ...sum, gauges: undefined },
        { at: HOUR + FINE, ...second, gauges: undefined },
        { at: HOUR + COARSE, ...first, gauges: undefined },
      ]);
      const [hour, next] = await all(COARSE);
      expect(hour).toMatchObject({ at: HOUR, pages: 4, done: 5, failed: 4, dead: 2, records: 5 });
      expect(hour?.latencies[latencyBucket(10)]).toBe(4);
      expect(next).toMatchObject({ at: HOUR + COARSE, pages: 2 });
    });

    it("H1 loses no counts if several processes add to the same buckets concurrently", async () => {
      const handles = [history, (await open()).history, (await open()).history];
      const buckets = [0, 1, 2, 3].map((nth) => ({ at: HOUR + nth * FINE, counts: work({ done: 1, pages: 1 }, [5]) }));

      await Promise.all(
        Array.from({ length: 30 }, (_, nth) =>
          handles[nth % handles.length]?.add(nth % 2 === 0 ? buckets : [...buckets].reverse()),
        ),
      );

      expect((await all(FINE)).map(({ done }) => done)).toEqual([30, 30, 30, 30]);
      const [hour] = await all(COARSE);
      expect([hour?.pages, hour?.latencies[latencyBucket(5)]]).toEqual([120, 120]);
    });

    it("H2 stores the last gauges of a bucket together with its counts", async () => {
      await history.setGauges(HOUR + 1, { waiting: 9, inFlight: 1, workers: 1 });
      await history.add([{ at: HOUR, counts: work({ done: 1 }) }]);
      await history.setGauges(HOUR + FINE - 1, { waiting: 2 ** 33, inFlight: 32, workers: 2 });
      await history.setGauges(HOUR + FINE, { waiting: 0, inFlight: 0, workers: 0 });

      const [first, second] = await all(FINE);
      expect(first).toMatchObject({ at: HOUR, done: 1, gauges: { waiting: 2 ** 33, inFlight: 32, workers: 2 } });
      expect(second).toMatchObject({ at: HOUR + FINE, done: 0, gauges: { waiting: 0, inFlight: 0, workers: 0 } });
      expect(await all(COARSE)).toMatchObject([{ at: HOUR, done: 1, gauges: { waiting: 0, inFlight: 0, workers: 0 } }]);
    });

    it("H3 reads the buckets of a time range in order, and omits those without entries", async () => {
      for (const nth of [7, 0, 3]) await history.add([{ at: HOUR + nth * FINE, counts: work({ done: nth }) }]);

      const read = async (from: number, to: number, limit = 100) =>
        (await history.read(FINE, HOUR + from * FINE, HOUR + to * FINE, limit)).map(({ done }) => done);
      expect(await read(0, 8)).toEqual([0, 3, 7]);
      expect(await read(0, 7)).toEqual([0, 3]);
      expect(await read(1, 7)).toEqual([3]);
      expect(await read(0, 8, 2)).toEqual([0, 3]);
      expect(await read(4, 7)).toEqual([]);
    });

    it("H4 removes the oldest buckets of one width, up to the given number", async () => {
      const buckets = [0, 1, 2, 3, 4].map((nth) => ({ at: HOUR + nth * FINE, counts: work({ done: nth }) }));
      await history.add(buckets);

      expect(await history.prune(FINE, HOUR + 3 * FINE, 2)).toBe(2);
      expect((await all(FINE)).map(({ done }) => done)).toEqual([2, 3, 4]);
      expect(await history.prune(FINE, HOUR + 3 * FINE, 2)).toBe(1);
      expect(await history.prune(FINE, HOUR + 3 * FINE, 2)).toBe(0);
      expect((await all(COARSE)).map(({ done }) => done)).toEqual([10]);
    });
  });
}
