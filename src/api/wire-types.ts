/** What the API's answers look like. Instants are ISO 8601 in UTC; what is not known is null, never missing. */
import { z } from "zod";
import { JOB_MOVES, type JobState } from "../domain/job.ts";
import { type StoredPage, TRY_FATES } from "../store/store.ts";
import { jobSchema } from "../submit/job-schema.ts";
import { deadGroupSchemaOut } from "./wire-fleet.ts";

const count = z.int().min(0);
const instant = z.iso.datetime();

export const problemSchema = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string().describe("One of docs/errors.md; the thing to branch on."),
  fix: z.string(),
  requestId: z.string(),
});

export const refusalSchema = z.strictObject({ index: count, url: z.string(), reason: z.string() });

export const submissionSchema = z.strictObject({
  id: z.string().describe("Of the job."),
  requestId: z.string(),
  accepted: count.describe("URLs that are queued now."),
  duplicates: count.describe("URLs that were there before, or came twice."),
  refused: z.array(refusalSchema).describe("The first of those that cannot be fetched, by their place in the request."),
  refusedCount: count,
  taken: count.describe("URLs that were dealt with; after a 429, go on from this one."),
});

/** Of a new job. */
export const newJobSchemaOut = submissionSchema.extend({
  webhookSecret: z
    .string()
    .nullable()
    .describe("What events of its webhook are signed with, where the job brought none: told here and nowhere else."),
});

export type SubmissionOut = z.output<typeof submissionSchema>;
export type NewJobOut = z.output<typeof newJobSchemaOut>;

export const ledgerSchema = z.strictObject({
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

export const jobSchemaOut = z.strictObject({
  id: z.string(),
  requestId: z.string().nullable(),
  name: z.string(),
  state: z.enum(Object.keys(JOB_MOVES) as [JobState, ...JobState[]]),
  sealed: z.boolean().describe("No more URLs are to come: it ends with those it has."),
  queue: z.string(),
  queues: z.array(z.string()).describe("All that its tasks may go to: for it to end, each needs a worker."),
  priority: z.int(),
  politeness: z
    .strictObject({ rate: z.string(), burst: count, perSite: count })
    .describe("What it asks for at a site without a rule of its own, now."),
  limits: z
    .strictObject({ pages: count.nullable(), seconds: z.number().nullable() })
    .describe("Now; seconds count from createdAt. null: no limit."),
  counts: ledgerSchema.describe("submitted + discovered are the sum of the rest, at any instant."),
  tally: z.strictObject({ pages: count, records: count, invalid: count, bytes: count }),
  rate: z.number().nullable().describe("Pages a second since it began, pauses included; null in its first instant."),
  etaSeconds: z
    .number()
    .nullable()
    .describe(
      "Until what it has is done, at the pace so far; null where that cannot be told: nothing left or nothing done yet, paused, or more URLs to come.",
    ),
  createdAt: instant,
  finishedAt: instant.nullable(),
  archived: z.boolean().describe("It ended long ago: its results can be read, and it cannot be steered any more."),
});

export type JobOut = z.output<typeof jobSchemaOut>;

export const jobSiteSchemaOut = z.strictObject({
  site: z.string(),
  waiting: count,
  inFlight: count.describe("Requests under way."),
  pages: count,
  records: count,
  invalid: count,
  bytes: count,
  dead: count,
  lastPageAt: instant.nullable().describe("When the last page came; null: none has."),
  blockedUntil: instant.nullable().describe("Until when the site rests; null: it does not."),
  why: z.string().nullable().describe("What holds it up for longer than its rate does."),
});

export type JobSiteOut = z.output<typeof jobSiteSchemaOut>;

const errorGroup = { count, sample: z.string().describe("The URL of one of them.") };

export const jobErrorsSchemaOut = z.strictObject({
  tries: z.array(
    z.strictObject({
      fate: z.enum(TRY_FATES).describe("What became of the task: `retry` may have brought a page later."),
      because: z.string(),
      status: z.int().nullable(),
      ...errorGroup,
    }),
  ),
  dead: z.array(deadGroupSchemaOut).describe("Of a job that has left the broker there are none."),
  invalid: z.strictObject({
    total: count,
    looked: count.describe("How many of them the groups are about."),
    groups: z.array(z.strictObject({ reason: z.string(), ...errorGroup })),
  }),
});

export type JobErrorsOut = z.output<typeof jobErrorsSchemaOut>;

export const recordSchemaOut = z
  .looseObject({
    _url: z.string(),
    _status: z.int(),
    _fetchedAt: instant,
    _job: z.string(),
    _depth: count,
  })
  .describe("The fields of the record, and where it is from.");

export const invalidSchemaOut = z
  .looseObject({ _url: z.string(), _reason: z.string() })
  .describe("The fields of the record, where it is from, and what is wrong with it.");

export const pageSchemaOut = z.strictObject({
  id: z.int().describe("For GET /v1/pages/{id}/body. A page that is fetched anew gets another."),
  taskId: z.string(),
  url: z.string(),
  status: z.int(),
  contentType: z.string().nullable(),
  headers: z.record(z.string(), z.string()),
  depth: count,
  bodyBytes: count,
  records: count,
  invalid: count,
  unchanged: z.boolean().describe("In a recrawl: it was as the set remembered it."),
  kept: z.array(z.enum(["body", "screenshot", "pdf"])).describe("What can be had of it, under its id."),
  fetchedAt: instant,
  tookMs: z.number(),
});

export const onePageSchemaOut = z.strictObject({
  jobId: z.string(),
  page: pageSchemaOut,
  records: z.array(recordSchemaOut),
});
export type OnePageOut = z.output<typeof onePageSchemaOut>;

const fields = z.record(z.string(), z.unknown());
export const readingSchemaOut = z.strictObject({
  records: z.array(fields).describe("The first 50, long texts cut."),
  recordCount: count,
  invalid: z.array(z.strictObject({ fields, reason: z.string() })).describe("The first 50 that lack a required field."),
  invalidCount: count,
  links: z.array(z.string()).describe("The first 200 that would be followed, before include, exclude and scope."),
  linkCount: count,
  tookMs: count,
});
export type ReadingOut = z.output<typeof readingSchemaOut>;

export const writtenJobSchemaOut = z.strictObject({
  job: jobSchema.describe("To be submitted again; what is as the settings have it is left out."),
  missing: z
    .array(z.string())
    .describe(
      "What has to be given anew: headers, what is typed into pages and webhooks are secret, URLs that came as a list and more than 500 are not kept, and the recrawl set of a schedule is its own.",
    ),
});
export type WrittenJobOut = z.output<typeof writtenJobSchemaOut>;

export type InvalidOut = z.output<typeof invalidSchemaOut>;
export type RecordOut = z.output<typeof recordSchemaOut>;
export type PageOut = z.output<typeof pageSchemaOut>;

export function pageOut(page: StoredPage): PageOut {
  const { id, taskId, url, status, contentType = null, headers, depth, bodyBytes, records, invalid, tookMs } = page;
  const refs = { body: page.bodyRef, screenshot: page.screenshotRef, pdf: page.pdfRef };
  const kept = (Object.keys(refs) as (keyof typeof refs)[]).filter((part) => refs[part] !== undefined);
  const fetchedAt = new Date(page.fetchedAt).toISOString();
  const sizes = { depth, bodyBytes, records, invalid };
  return {
    id,
    taskId,
    url,
    status,
    contentType,
    headers,
    ...sizes,
    unchanged: page.unchanged,
    kept,
    fetchedAt,
    tookMs,
  };
}
