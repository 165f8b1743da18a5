/** History on PostgreSQL. Each call is one statement; what adds up is made once, and lost should its connection be. */
import { readSql } from "../../runtime/sqlite.ts";
import { type HistoryBook, SLOT_WIDTHS_MS, slotAt, type WorkCounts } from "../history-book.ts";
import { countsRows, toSlot } from "../history-rows.ts";
import { arrayOf, type Connection } from "./connection.ts";

type Names = "reach" | "addCounts" | "noteGauges" | "readSlots" | "pruneSlots";

const COUNTED = ["pages", "done", "failed", "dead", "records", "bytes"] as const satisfies (keyof WorkCounts)[];

export function createHistoryBook(connection: Connection): HistoryBook {
  const sql = readSql<Names>(new URL("./sql/history.sql", import.meta.url));
  return {
    async add(slots) {
      const rows = countsRows(slots);
      const columns = [
        rows.map(({ width }) => width),
        rows.map(({ at }) => at),
        ...COUNTED.map((name) => rows.map(({ counts }) => counts[name])),
        rows.map(({ counts }) => arrayOf(counts.latencies)),
      ];
      // A server that is away is waited for here: what is told to one that is not there is gone.
      await connection.ask("history.add", sql.reach, []);
      await connection.tell("history.add", sql.addCounts, columns.map(arrayOf));
    },
    async note(at, { waiting, inFlight, workers }) {
      const slots = [[...SLOT_WIDTHS_MS], SLOT_WIDTHS_MS.map((width) => slotAt(at, width))].map(arrayOf);
      await connection.ask("history.note", sql.noteGauges, [...slots, waiting, inFlight, workers]);
    },
    read: async (width, from, to, limit) =>
      (await connection.ask("history.read", sql.readSlots, [width, from, to, limit])).map(toSlot),
    prune: async (width, before, limit) =>
      (await connection.ask("history.prune", sql.pruneSlots, [width, before, limit])).length,
  };
}
