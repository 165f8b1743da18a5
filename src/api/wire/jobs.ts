/** Schemas of jobs and submissions. Instants are ISO 8601 in UTC. Unknown values are null, never missing. */
import { z } from "zod";
import type { JobOut, JobSiteOut } from "../../control/views/job.ts";
import { JOB_MOVES, type JobState } from "../../domain/job.ts";
import { ATTEMPT_OUTCOMES } from "../../store/store.ts";
import { jobSchema } from "../../submit/job-schema.ts";
import { deadGroupSchemaOut } from "./dead.ts";

const count = z.int().min(0);
const instant = z.iso.datetime();

export const submissionSchema = z.strictObject({
  id: z.string().describe("The id of the job."),
  requestId: z.string(),
  accepted: count.describe("URLs that were queued."),
  duplicates: count.describe(
    "URLs that are already seen in the dedup scope of the job, or that occur twice in the request.",
  ),
  refused: z
    .array(z.strictObject({ index: count, url: z.string(), reason: z.string() }))
    .describe(
      "The first 1,000 refused URLs, with their position in the request: invalid URLs, and URLs above the page limit.",
    ),
  refusedCount: count,
  taken: count.describe("URLs that were processed. After a 429, continue with the URL at this position."),
});

export const newJobSchemaOut = submissionSchema.extend({
  webhookSecret: z
    .string()
    .nullable()
    .describe("The generated signing secret of the webhook. It is returned only here. null: no secret was generated."),
});

export type SubmissionOut = z.output<typeof submissionSchema>;
export type NewJobOut = z.output<typeof newJobSchemaOut>;

const ledgerSchema = z.strictObject({
  submitted: count,
  discovered: count,
  queued: count,
  delayed: count,
  leased: count,
  done: count,
  dead: count,
  cancelled: count,
  duplicate: count,
  refused: count,
});

const spent = { requests: count, bytes: count, cost: z.number().min(0) };

export const jobSchemaOut = z.strictObject({
  id: z.string(),
  requestId: z.string().nullable(),
  name: z.string(),
  state: z.enum(Object.keys(JOB_MOVES) as [JobState, ...JobState[]]),
  sealed: z.boolean().describe("The job accepts no more URLs, and ends when its URLs are done."),
  queue: z.string(),
  queues: z
    .array(z.string())
    .describe("All queues that the tasks of the job may use. The job can end only if workers serve all of them."),
  priority: z.int(),
  politeness: z
    .strictObject({ rate: z.string(), burst: count, perSite: count })
    .describe("The current limits for sites without their own entry in politeness.sites."),
  limits: z
    .strictObject({ pages: count.nullable(), seconds: z.number().nullable() })
    .describe("The current limits. Seconds count from createdAt. null: no limit."),
  counts: ledgerSchema.describe("submitted + discovered equals the sum of the other counts at any time."),
  tally: z.strictObject({ pages: count, records: count, invalid: count, bytes: count }),
  rate: z.number().nullable().describe("Pages per second since the start, pauses included. null: just started."),
  etaSeconds: z
    .number()
    .nullable()
    .describe(
      "Estimated seconds until the current tasks are done, at the average speed so far. null: no estimate, as for a paused, unsealed or ended job.",
    ),
  createdAt: instant,
  finishedAt: instant.nullable(),
  archived: z
    .boolean()
    .describe("The job has left the broker. Its results can be read, but the job cannot be changed."),
  proxies: z
    .strictObject({
      budget: count.nullable(),
      fallbackRequests: count.describe("Requests taken from the budget."),
      ...spent,
      providers: z.record(z.string(), z.strictObject(spent)),
    })
    .nullable()
    .optional()
    .describe("Only in GET /v1/jobs/{id}: what the job has spent on proxies. null: nothing."),
}) satisfies z.ZodType<JobOut>;

export const jobSiteSchemaOut = z.strictObject({
  site: z.string(),
  waiting: count,
  inFlight: count.describe("Requests in progress."),
  pages: count,
  records: count,
  invalid: count,
  bytes: count,
  dead: count,
  lastPageAt: instant.nullable().describe("When the last page was stored. null: no page yet."),
  blockedUntil: instant.nullable().describe("The end of the site's backoff. null: no backoff."),
  why: z.string().nullable().describe("Why requests to the site wait longer than its rate requires."),
}) satisfies z.ZodType<JobSiteOut>;

const errorGroup = { count, sample: z.string().describe("The URL of one entry of the group.") };

export const jobErrorsSchemaOut = z.strictObject({
  attempts: z.array(
    z.strictObject({
      outcome: z
        .enum(ATTEMPT_OUTCOMES)
        .describe("What happened to the task. After `retry`, a later attempt may have succeeded."),
      because: z.string(),
      status: z.int().nullable(),
      ...errorGroup,
    }),
  ),
  dead: z.array(deadGroupSchemaOut).describe("Empty for an archived job."),
  invalid: z.strictObject({
    total: count,
    searched: count.describe("How many invalid records the groups cover."),
    groups: z.array(z.strictObject({ reason: z.string(), ...errorGroup })),
  }),
});

export type JobErrorsOut = z.output<typeof jobErrorsSchemaOut>;

export const writtenJobSchemaOut = z.strictObject({
  job: jobSchema.describe("Ready to be submitted again. Values that equal the server's settings are left out."),
  missing: z
    .array(z.string())
    .describe(
      "Keys that you have to add: headers, credentials, text typed into pages, the webhook, URLs if not all are stored with the job (a list of more than 500 is not stored), a spider outside `apiSpiders`, and the recrawl set of a schedule.",
    ),
});
export type WrittenJobOut = z.output<typeof writtenJobSchemaOut>;
