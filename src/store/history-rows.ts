/** Conversion between history buckets and rows, shared by all backends. */
import {
  addWork,
  BUCKET_WIDTHS_MS,
  type BucketCounts,
  bucketStart,
  type HistoryBucket,
  noWork,
  type WorkCounts,
} from "./history-store.ts";

type CountsRow = { width: number; at: number; counts: WorkCounts };

/**
 * The rows to which the counts are added: for every width, one row per bucket. The rows are sorted by width and start.
 * All writers lock rows in this order, so they cannot deadlock.
 */
export function countsRows(buckets: readonly BucketCounts[]): CountsRow[] {
  return BUCKET_WIDTHS_MS.flatMap((width) => {
    const rows = new Map<number, WorkCounts>();
    for (const bucket of buckets) {
      const at = bucketStart(bucket.at, width);
      const counts = rows.get(at) ?? noWork();
      addWork(counts, bucket.counts);
      rows.set(at, counts);
    }
    return [...rows].sort(([one], [other]) => one - other).map(([at, counts]) => ({ width, at, counts }));
  });
}

export function toBucket(row: Record<string, unknown>): HistoryBucket {
  const latencies = parseLatencies(row.latencies);
  const [pages, done, failed, dead] = [row.pages, row.done, row.failed, row.dead].map(Number) as Four;
  const [records, bytes, at] = [row.records, row.bytes, row.at].map(Number) as Three;
  const [waiting, inFlight, workers] = [row.waiting, row.in_flight, row.workers].map(Number) as Three;
  const gauges = row.waiting === null ? undefined : { waiting, inFlight, workers };
  return { at, pages, done, failed, dead, records, bytes, latencies, gauges };
}

export function parseLatencies(json: unknown): number[] {
  return JSON.parse(String(json)) as number[];
}

type Three = [number, number, number];
type Four = [number, number, number, number];
