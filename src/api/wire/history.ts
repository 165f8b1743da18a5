/** Schemas of the fleet's history and current speed. */
import { z } from "zod";
import type { HistoryPointOut } from "../../control/views/history.ts";

const count = z.int().min(0);
const amount = z.number().min(0);
const share = z.number().min(0).max(1).nullable();

const historyPointSchemaOut = z.strictObject({
  at: z.iso.datetime().describe("The start of the interval."),
  pages: count.nullable().describe("Pages fetched. All counts are null for an interval without a bucket in the store."),
  done: count.nullable().describe("Attempts that succeeded."),
  failed: count.nullable().describe("Attempts that ended without a page: retried later, or dead."),
  dead: count.nullable().describe("Failed attempts that became dead letters."),
  records: count.nullable(),
  bytes: count.nullable().describe("Body bytes after decompression."),
  pagesPerSecond: amount.nullable(),
  success: share.describe("The share of attempts that succeeded. null: there were no attempts."),
  p50Ms: amount.nullable().describe("Median time of an attempt, from lease to result."),
  p95Ms: amount.nullable(),
  p99Ms: amount.nullable(),
  waiting: count.nullable().describe("URLs waiting at the end of the interval. null: no server was running."),
  inFlight: count.nullable().describe("Tasks in progress at the end of the interval. null: no server was running."),
  workers: count.nullable().describe("Workers at the end of the interval. null: no server was running."),
}) satisfies z.ZodType<HistoryPointOut>;

export const historySchemaOut = z.strictObject({
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  stepSeconds: count.describe("The length of each interval."),
  points: z
    .array(historyPointSchemaOut)
    .describe("One point per interval, oldest first, without gaps. The last interval is still in progress."),
});

export type HistoryOut = z.output<typeof historySchemaOut>;
