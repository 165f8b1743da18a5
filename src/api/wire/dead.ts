/** Schemas of dead letters. */
import { z } from "zod";
import type { DeadGroupOut, DeadOut } from "../../control/views/dead-letter.ts";
import { DEAD_REASONS, type DeadReason } from "../../domain/task.ts";

const count = z.int().min(0);
const instant = z.iso.datetime();
const status = z.int().nullable();
const cause = z
  .string()
  .nullable()
  .describe(
    "For `retries_spent` and `blocked`: why the last attempt failed, such as `connection refused`, `HTTP 503` or `blocked (captcha)`.",
  );

export const deadReason = z.enum(Object.keys(DEAD_REASONS) as [DeadReason, ...DeadReason[]]);

export const deadSchemaOut = z.strictObject({
  taskId: z.string(),
  jobId: z.string(),
  url: z.string(),
  site: z.string(),
  reason: deadReason,
  status,
  diedAt: instant,
  cause,
  history: z
    .array(z.strictObject({ at: instant, because: z.string(), status, detail: z.string().nullable() }))
    .describe("The failed attempts of the task, oldest first."),
}) satisfies z.ZodType<DeadOut>;

export const deadGroupSchemaOut = z.strictObject({
  reason: deadReason,
  site: z.string(),
  status,
  count,
  sample: z.string().describe("The URL of one dead letter of the group."),
  cause,
}) satisfies z.ZodType<DeadGroupOut>;
