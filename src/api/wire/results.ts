/** Schemas of results: records, invalid records and pages. */
import { z } from "zod";
import type { StoredPage } from "../../store/store.ts";
import { deadSchemaOut } from "./dead.ts";

const count = z.int().min(0);
const instant = z.iso.datetime();

export const recordSchemaOut = z
  .looseObject({
    _url: z.string(),
    _status: z.int(),
    _fetchedAt: instant,
    _job: z.string(),
    _depth: count,
  })
  .describe("The fields of the record, and its origin in fields that start with `_`.");

export const invalidSchemaOut = z
  .looseObject({ _url: z.string(), _reason: z.string() })
  .describe("The fields of the record, its URL, and why it is invalid.");

export const pageSchemaOut = z.strictObject({
  id: z.int().describe("For GET /v1/pages/{id}/body. A page that is fetched again gets a new id."),
  taskId: z.string(),
  url: z.string(),
  status: z.int(),
  contentType: z.string().nullable(),
  headers: z.record(z.string(), z.string()),
  depth: count,
  bodyBytes: count,
  records: count,
  invalid: count,
  unchanged: z.boolean().describe("In a recrawl: the page has not changed since the last job of the set."),
  kept: z.array(z.enum(["body", "screenshot", "pdf"])).describe("The files that can be downloaded with the page's id."),
  fetchedAt: instant,
  tookMs: z.number(),
});

export const onePageSchemaOut = z.strictObject({
  jobId: z.string(),
  page: pageSchemaOut,
  records: z.array(recordSchemaOut),
});

const fields = z.record(z.string(), z.unknown());
export const extractionPreviewSchemaOut = z.strictObject({
  records: z.array(fields).describe("The first 50 records. Long texts are truncated."),
  recordCount: count,
  invalid: z
    .array(z.strictObject({ fields, reason: z.string() }))
    .describe("The first 50 records that lack a required field."),
  invalidCount: count,
  links: z.array(z.string()).describe("The first 200 matched links, before include, exclude and scope are applied."),
  linkCount: count,
  tookMs: count,
});

export const scrapeSchemaOut = z.strictObject({
  id: z.string().describe("The id of the job."),
  requestId: z.string(),
  outcome: z
    .enum(["page", "dead", "refused"])
    .describe(
      "refused: the URL was not fetched, because robots.txt disallows it, it is a duplicate in a shared dedup scope, or the job was cancelled. The outcome is also refused if the job stores neither pages nor records.",
    ),
  page: pageSchemaOut.nullable(),
  records: z.array(recordSchemaOut).describe("At most 1,000 records."),
  dead: deadSchemaOut.nullable().describe("Why the URL failed."),
});

export type InvalidOut = z.output<typeof invalidSchemaOut>;
export type RecordOut = z.output<typeof recordSchemaOut>;
export type PageOut = z.output<typeof pageSchemaOut>;
export type OnePageOut = z.output<typeof onePageSchemaOut>;
export type ExtractionPreviewOut = z.output<typeof extractionPreviewSchemaOut>;
export type ScrapeOut = z.output<typeof scrapeSchemaOut>;

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
