/**
 * Fleet history in PostgreSQL. Each call is one statement. Counts are added at most once; they may be lost if the
 * connection breaks.
 */
import { readSql } from "../../runtime/sqlite.ts";
import { countsRows, toBucket } from "../history-rows.ts";
import { BUCKET_WIDTHS_MS, bucketStart, type HistoryStore, type WorkCounts } from "../history-store.ts";
import { encodeArray, type PostgresConnection } from "./connection.ts";

type Names = "ping" | "addCounts" | "setGauges" | "readBuckets" | "pruneBuckets";

const COUNTERS = ["pages", "done", "failed", "dead", "records", "bytes"] as const satisfies (keyof WorkCounts)[];

export function createHistoryStore(connection: PostgresConnection): HistoryStore {
  const sql = readSql<Names>(new URL("./sql/history.sql", import.meta.url));
  return {
    async add(buckets) {
      const rows = countsRows(buckets);
      const columns = [
        rows.map(({ width }) => width),
        rows.map(({ at }) => at),
        ...COUNTERS.map((name) => rows.map(({ counts }) => counts[name])),
        rows.map(({ counts }) => encodeArray(counts.latencies)),
      ];
      // Waits until the server is reachable. Without this, queryOnce would drop the counts during an outage.
      await connection.query("history.add", sql.ping, []);
      await connection.queryOnce("history.add", sql.addCounts, columns.map(encodeArray));
    },
    async setGauges(at, { waiting, inFlight, workers }) {
      const widths = encodeArray(BUCKET_WIDTHS_MS);
      const starts = encodeArray(BUCKET_WIDTHS_MS.map((width) => bucketStart(at, width)));
      await connection.query("history.setGauges", sql.setGauges, { widths, starts, waiting, inFlight, workers });
    },
    read: async (width, from, to, limit) =>
      (await connection.query("history.read", sql.readBuckets, [width, from, to, limit])).map(toBucket),
    prune: async (width, before, limit) =>
      (await connection.query("history.prune", sql.pruneBuckets, [width, before, limit])).length,
  };
}
