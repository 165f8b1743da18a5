/** History as rows have it: alike in both stores. */
import {
  addWork,
  type HistorySlot,
  noWork,
  SLOT_WIDTHS_MS,
  type SlotCounts,
  slotAt,
  type WorkCounts,
} from "./history-book.ts";

export type CountsRow = { width: number; at: number; counts: WorkCounts };

/**
 * The slots of every width that these go to, each once, by width and time: writers that take their rows in one order
 * never wait for each other in a circle.
 */
export function countsRows(slots: readonly SlotCounts[]): CountsRow[] {
  return SLOT_WIDTHS_MS.flatMap((width) => {
    const rows = new Map<number, WorkCounts>();
    for (const slot of slots) {
      const at = slotAt(slot.at, width);
      const counts = rows.get(at) ?? noWork();
      addWork(counts, slot.counts);
      rows.set(at, counts);
    }
    return [...rows].sort(([one], [other]) => one - other).map(([at, counts]) => ({ width, at, counts }));
  });
}

export function toSlot(row: Record<string, unknown>): HistorySlot {
  const latencies = latenciesIn(row.latencies);
  const [pages, done, failed, dead] = [row.pages, row.done, row.failed, row.dead].map(Number) as Four;
  const [records, bytes, at] = [row.records, row.bytes, row.at].map(Number) as Three;
  const [waiting, inFlight, workers] = [row.waiting, row.in_flight, row.workers].map(Number) as Three;
  const gauges = row.waiting === null ? undefined : { waiting, inFlight, workers };
  return { at, pages, done, failed, dead, records, bytes, latencies, gauges };
}

export function latenciesIn(json: unknown): number[] {
  return JSON.parse(String(json)) as number[];
}

type Three = [number, number, number];
type Four = [number, number, number, number];
