/** Writes a week of history: more pages by day than by night, and one hour on Saturday in which a site is down. */
import { join } from "node:path";
import { latencyBucket, noLatencies } from "../../src/domain/latency.ts";
import { type BucketCounts, bucketStart, type WorkCounts } from "../../src/store/history-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/open-sqlite-store.ts";
import type { Stage } from "./stage.ts";

const SLOT_MS = 10_000;
const STEP_MS = 300_000;
const HOUR_MS = 3_600_000;
const DAYS = 7;
const BATCH = 500;
/** Durations of requests in ms, and how many of ten requests take that long. */
const TOOK = [
  [60, 4],
  [140, 3],
  [320, 2],
  [1_100, 1],
] as const;

/** Writes the history up to now. The running fleet adds to it. */
export async function fillHistory({ folder }: Pick<Stage, "folder">, now = Date.now()): Promise<void> {
  const store = openSqliteStore(join(folder, ".trawl/store.db"), { busyMs: 10_000 });
  const recent = bucketStart(now - HOUR_MS, STEP_MS);
  const steps: BucketCounts[] = [];
  for (let at = bucketStart(now - DAYS * 24 * HOUR_MS, STEP_MS); at < recent; at += STEP_MS) {
    steps.push({ at, counts: workAt(at, STEP_MS) });
  }
  for (let at = recent; at < now - SLOT_MS; at += SLOT_MS) steps.push({ at, counts: workAt(at, SLOT_MS) });
  for (let from = 0; from < steps.length; from += BATCH) await store.history.add(steps.slice(from, from + BATCH));
  for (const { at, counts } of steps) {
    await store.history.setGauges(at, { waiting: 1_500 + Math.round(counts.pages / 3), inFlight: 12, workers: 3 });
  }
  await store.close();
}

function workAt(at: number, widthMs: number): WorkCounts {
  const date = new Date(at);
  const hour = date.getUTCHours() + date.getUTCMinutes() / 60;
  const byDay = 1 + Math.sin(((hour - 7) / 24) * 2 * Math.PI);
  const ripple = 1 + 0.12 * Math.sin(at / 1_900_000) + 0.06 * Math.sin(at / 610_000);
  const isDown = date.getUTCDay() === 6 && Math.floor(hour) === 11;
  const pages = Math.round(((4 + 9 * byDay * ripple) * widthMs) / 1_000);
  const failed = Math.round(pages * (isDown ? 0.4 : 0.02));
  const latencies = noLatencies();
  for (const [ms, tenths] of TOOK) {
    const bucket = latencyBucket(isDown ? ms * 4 : ms * ripple);
    latencies[bucket] = (latencies[bucket] ?? 0) + Math.round((pages * tenths) / 10);
  }
  return { pages, done: pages, failed, dead: Math.round(failed / 8), records: pages, bytes: pages * 21_000, latencies };
}
