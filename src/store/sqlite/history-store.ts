/** Fleet history in SQLite. Every worker and server calls it; each call is one transaction. */
import { addLatencies } from "../../domain/latency.ts";
import { type Database, prepareAll } from "../../runtime/sqlite.ts";
import type { RunOnFile } from "../../runtime/sqlite-errors.ts";
import { countsRows, parseLatencies, toBucket } from "../history-rows.ts";
import {
  BUCKET_WIDTHS_MS,
  type BucketCounts,
  bucketStart,
  type FleetGauges,
  type HistoryStore,
} from "../history-store.ts";

type Names = "findLatencies" | "addCounts" | "setGauges" | "readBuckets" | "pruneBuckets";

export function createHistoryStore(db: Database, run: RunOnFile): HistoryStore {
  const sql = prepareAll<Names>(db, new URL("./sql/history.sql", import.meta.url));

  function add(buckets: readonly BucketCounts[]): void {
    for (const { width, at, counts } of countsRows(buckets)) {
      const { latencies, ...sums } = counts;
      addLatencies(latencies, parseLatencies(sql.findLatencies.get(width, at)?.latencies ?? "[]"));
      sql.addCounts.run({ width, at, ...sums, latencies: JSON.stringify(latencies) });
    }
  }

  function setGauges(instant: number, gauges: FleetGauges): void {
    for (const width of BUCKET_WIDTHS_MS) sql.setGauges.run({ width, at: bucketStart(instant, width), ...gauges });
  }

  return {
    add: (buckets) => run("history.add", () => db.write(() => add(buckets))),
    setGauges: (at, gauges) => run("history.setGauges", () => db.write(() => setGauges(at, gauges))),
    read: (width, from, to, limit) =>
      run("history.read", () => sql.readBuckets.all(width, from, to, limit).map(toBucket)),
    prune: (width, before, limit) =>
      run("history.prune", () => Number(sql.pruneBuckets.run(width, before, limit).changes)),
  };
}
