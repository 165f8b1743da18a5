/** History that is older than it is kept for goes, a bounded number of slots at a time; those left go the next time. */
import type { Clock } from "../runtime/clock.ts";
import { type HistoryBook, SLOT_WIDTHS_MS } from "../store/history-book.ts";

/** How long slots are kept, for each of SLOT_WIDTHS_MS. */
export type HistoryKept = readonly [fineMs: number, mediumMs: number, coarseMs: number];

/** More than come to be in the time between two rounds, and few enough to hold nobody up. */
const SLOTS_MOST = 500;

export async function pruneHistory(
  { history, clock }: { history: Pick<HistoryBook, "prune">; clock: Pick<Clock, "now"> },
  kept: HistoryKept,
  signal: AbortSignal,
): Promise<void> {
  for (const [nth, width] of SLOT_WIDTHS_MS.entries()) {
    if (signal.aborted) return;
    await history.prune(width, Math.floor(clock.now() - (kept[nth] ?? 0)), SLOTS_MOST);
  }
}
