/** Schemas of traces. Instants are ISO 8601 in UTC. Unknown values are null, never missing. */
import { z } from "zod";
import type { JobTraceOut, LeaseOut, TimelineOut, TraceOut } from "../../control/views/trace.ts";
import { LINE_KINDS } from "../../trace/timeline-lines.ts";
import { deadSchemaOut } from "./dead.ts";
import { jobSchemaOut } from "./jobs.ts";

const count = z.int().min(0);
const instant = z.iso.datetime();
const step = z.enum(["fetch", "render", "parse", "deliver"]);
const outcome = z.enum(["retry", "dead", "refused", "returned", "passed"]);
const token = count.describe("The number of the lease, counted per task.");

const run = {
  token,
  worker: z.string().nullable().describe("null: unknown, or the key does not have the scope admin."),
  step: step.nullable(),
  attempt: count.nullable(),
  leasedAt: instant.nullable(),
  endedAt: instant.nullable(),
};

const leaseSchemaOut = z.union([
  z
    .strictObject({
      kind: z.literal("attempt"),
      ...run,
      outcome,
      because: z.string(),
      status: z.int().nullable(),
      detail: z.string().nullable(),
    })
    .describe("The attempt ended without a page."),
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
      location: z.string().nullable().describe("The target of a redirect."),
      records: count,
      invalid: count,
      bodyRef: z.string().nullable(),
    })
    .describe("The attempt stored a page."),
  z
    .strictObject({ kind: z.literal("lost"), token })
    .describe("The lease was granted, but its end was never recorded: the worker has probably crashed."),
]) satisfies z.ZodType<LeaseOut>;

const lineSchemaOut = z.strictObject({
  at: instant.nullable().describe("null: unknown, or still in progress."),
  kind: z.enum(LINE_KINDS),
  text: z.string(),
});

export const timelineSchemaOut = z.strictObject({
  url: z.string(),
  job: z.string(),
  jobState: jobSchemaOut.shape.state,
  requestId: z.string().nullable(),
  submittedAt: instant,
  state: z
    .enum(["queued", "delayed", "leased", "dead", "ended"])
    .nullable()
    .describe("The state in the broker. null: the broker no longer has the task."),
  waits: z.array(z.string()).describe("Why the URL waits. Empty once it has ended."),
  lines: z.array(lineSchemaOut).describe("The timeline as text."),
  tasks: z.array(
    z.strictObject({ taskId: z.string(), step, leases: z.array(leaseSchemaOut).describe("Oldest first.") }),
  ),
}) satisfies z.ZodType<TimelineOut>;

const jobTraceSchemaOut = z.strictObject({
  job: jobSchemaOut,
  waits: z.array(z.string()).describe("Why the job waits. Empty once it has ended."),
  attempts: z
    .array(z.strictObject({ outcome, because: z.string(), status: z.int().nullable(), count, sample: z.string() }))
    .describe("Attempts that ended without a page, grouped by reason."),
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
    .describe("The pages with the longest time from lease to result."),
  dead: z.array(deadSchemaOut).describe("The first dead letters."),
}) satisfies z.ZodType<JobTraceOut>;

export const traceSchemaOut = z.strictObject({
  timelines: z
    .array(timelineSchemaOut)
    .describe(
      "The timeline of one page, for each job that contains it. A job with one URL, without links and spider, also has a timeline.",
    ),
  jobs: z.array(jobTraceSchemaOut).describe("Summaries of whole jobs. Empty if there are timelines."),
  more: count.describe("How many more results there are. The response contains at most 20."),
}) satisfies z.ZodType<TraceOut>;
