/**
 * What the fleet did and how it stood, slot by slot, in the store beside the records: it outlives every process. Workers
 * add what they have done every few seconds, to slots of each width at once, so that nothing has to be rolled up later;
 * servers note how much waits. Every implementation passes test/contracts/store/describe-history-book.ts:
 *
 * H1 What is added adds up, whoever adds it, in a slot of every width.
 * H2 Of gauges, the last of a slot stands; counts and gauges of a slot do not touch each other.
 * H3 A slot nobody has written is not there.
 * H4 Pruning removes what is older than its width is kept for, a bounded number of slots at a time.
 *
 * Counts are made once: those that are on their way when a connection breaks are lost.
 */
import { addLatencies, type Latencies, noLatencies } from "../domain/latency.ts";

/** How wide slots are: those of seconds are kept for the shortest time. */
export const SLOT_WIDTHS_MS = [10_000, 300_000, 3_600_000] as const;
export type SlotWidth = (typeof SLOT_WIDTHS_MS)[number];

/** What was brought to an end. */
export type WorkCounts = {
  /** Pages that were read. */
  pages: number;
  /** Leases that ended as they should. */
  done: number;
  /** Leases that ended without a page: to be tried again, or given up on. */
  failed: number;
  /** Of these, given up on. */
  dead: number;
  records: number;
  /** Of bodies, after decompression. */
  bytes: number;
  /** From lease to result, of all of them. */
  latencies: Latencies;
};

/** How things stood. */
export type FleetGauges = { waiting: number; inFlight: number; workers: number };

export type HistorySlot = WorkCounts & {
  /** When it begins. */
  at: number;
  /** Undefined where nobody has looked. */
  gauges: FleetGauges | undefined;
};

/** Counts of the narrowest slot that begins then. */
export type SlotCounts = { at: number; counts: WorkCounts };

export interface HistoryBook {
  add(slots: readonly SlotCounts[]): Promise<void>;
  note(at: number, gauges: FleetGauges): Promise<void>;
  /** Those of one width that begin in [from, to), in order. */
  read(width: SlotWidth, from: number, to: number, limit: number): Promise<readonly HistorySlot[]>;
  /** Removes up to `limit` slots of a width that begin before; the answer is how many. */
  prune(width: SlotWidth, before: number, limit: number): Promise<number>;
}

export function noWork(): WorkCounts {
  return { pages: 0, done: 0, failed: 0, dead: 0, records: 0, bytes: 0, latencies: noLatencies() };
}

export function addWork(into: WorkCounts, { latencies, ...more }: WorkCounts): void {
  for (const [name, count] of Object.entries(more)) into[name as keyof typeof more] += count;
  addLatencies(into.latencies, latencies);
}

/** When the slot of that instant begins. */
export function slotAt(instant: number, widthMs: number): number {
  return Math.floor(instant / widthMs) * widthMs;
}
