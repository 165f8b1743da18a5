/** History in a store's file. Called by every worker and server; each call is one transaction. */
import { addLatencies } from "../../domain/latency.ts";
import { type Database, prepareAll } from "../../runtime/sqlite.ts";
import { type FleetGauges, type HistoryBook, SLOT_WIDTHS_MS, type SlotCounts, slotAt } from "../history-book.ts";
import { countsRows, latenciesIn, toSlot } from "../history-rows.ts";
import type { RunCall } from "./key-book.ts";

type Names = "findLatencies" | "addCounts" | "noteGauges" | "readSlots" | "pruneSlots";

export function createHistoryBook(db: Database, run: RunCall): HistoryBook {
  const sql = prepareAll<Names>(db, new URL("./sql/history.sql", import.meta.url));

  function add(slots: readonly SlotCounts[]): void {
    for (const { width, at, counts } of countsRows(slots)) {
      const { pages, done, failed, dead, records, bytes, latencies } = counts;
      addLatencies(latencies, latenciesIn(sql.findLatencies.get(width, at)?.latencies ?? "[]"));
      sql.addCounts.run(width, at, pages, done, failed, dead, records, bytes, JSON.stringify(latencies));
    }
  }

  function note(instant: number, { waiting, inFlight, workers }: FleetGauges): void {
    for (const width of SLOT_WIDTHS_MS) sql.noteGauges.run(width, slotAt(instant, width), waiting, inFlight, workers);
  }

  return {
    add: (slots) => run("history.add", () => db.write(() => add(slots))),
    note: (at, gauges) => run("history.note", () => db.write(() => note(at, gauges))),
    read: (width, from, to, limit) => run("history.read", () => sql.readSlots.all(width, from, to, limit).map(toSlot)),
    prune: (width, before, limit) =>
      run("history.prune", () => Number(sql.pruneSlots.run(width, width, before, limit).changes)),
  };
}
