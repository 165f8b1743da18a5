/** What the API says of how something went. Instants are ISO 8601 in UTC; what is not known is null, never missing. */
import { z } from "zod";
import { LINE_KINDS } from "../trace/story-lines.ts";
import { deadSchemaOut } from "./wire-fleet.ts";
import { jobSchemaOut } from "./wire-types.ts";

const count = z.int().min(0);
const instant = z.iso.datetime();
const step = z.enum(["fetch", "render", "parse", "deliver"]);
const fate = z.enum(["retry", "dead", "refused", "returned", "passed"]);
const token = count.describe("Which lease of its task it was.");

const run = {
  token,
  worker: z.string().nullable().describe("null: nobody told, or the key is no operator's."),
  step: step.nullable(),
  attempt: count.nullable(),
  leasedAt: instant.nullable(),
  endedAt: instant.nullable(),
};

const leaseSchemaOut = z.union([
  z
    .strictObject({
      kind: z.literal("try"),
      ...run,
      fate,
      because: z.string(),
      status: z.int().nullable(),
      detail: z.string().nullable(),
    })
    .describe("It ended without a page."),
  z
    .strictObject({
      kind: z.literal("page"),
      ...run,
      pageId: z.int().describe("For GET /v1/pages/{id}/body."),
      status: z.int(),
      bytes: count,
      sentAt: instant,
      fetchedAt: instant,
      tookMs: z.number(),
      location: z.string().nullable().describe("Where it redirects to."),
      records: count,
      invalid: count,
      bodyRef: z.string().nullable(),
    })
    .describe("It brought the page."),
  z.strictObject({ kind: z.literal("lost"), token }).describe("Granted, and nothing was ever heard of it."),
]);

const lineSchemaOut = z.strictObject({
  at: instant.nullable().describe("null: nobody told, or it is not over."),
  kind: z.enum(LINE_KINDS),
  words: z.string(),
});

export const storySchemaOut = z.strictObject({
  url: z.string(),
  job: z.string(),
  jobState: jobSchemaOut.shape.state,
  requestId: z.string().nullable(),
  submittedAt: instant,
  state: z
    .enum(["queued", "delayed", "leased", "dead", "ended"])
    .nullable()
    .describe("How it stands in the broker; null: that no longer knows."),
  waits: z.array(z.string()).describe("Why it waits; empty once it has ended."),
  lines: z.array(lineSchemaOut).describe("All of it, in words."),
  tasks: z.array(
    z.strictObject({ taskId: z.string(), step, leases: z.array(leaseSchemaOut).describe("In their order.") }),
  ),
});

const jobTraceSchemaOut = z.strictObject({
  job: jobSchemaOut,
  waits: z.array(z.string()).describe("What holds it up; empty once it has ended."),
  tries: z
    .array(z.strictObject({ fate, because: z.string(), status: z.int().nullable(), tries: count, sample: z.string() }))
    .describe("Leases that ended without a page, by how."),
  slowest: z
    .array(
      z.strictObject({
        taskId: z.string(),
        url: z.string(),
        status: z.int(),
        tookMs: z.number(),
        worker: z.string().nullable(),
        leaseMs: z.number().nullable(),
      }),
    )
    .describe("The longest from lease to result."),
  dead: z.array(deadSchemaOut).describe("The first that were given up on."),
});

export const traceSchemaOut = z.strictObject({
  stories: z.array(storySchemaOut).describe("Of one page, in each job that had it; empty where whole jobs were meant."),
  jobs: z.array(jobTraceSchemaOut).describe("How whole jobs went; empty where a page was meant."),
  more: count.describe("How many more there are: 20 are told of, the newest."),
});

export type TraceOut = z.output<typeof traceSchemaOut>;
export type StoryOut = z.output<typeof storySchemaOut>;
export type JobTraceOut = z.output<typeof jobTraceSchemaOut>;
export type LeaseOut = z.output<typeof leaseSchemaOut>;
