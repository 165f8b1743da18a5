/** One page: what is known of it, and what other rules would make of it, without fetching it again. */
import { z } from "zod";
import { recordLine } from "../../store/export/record-line.ts";
import { jobSchema } from "../../submit/job-schema.ts";
import type { ApiDeps } from "../api-deps.ts";
import { findOwnPage, keptPart } from "../find-own-page.ts";
import { pageId } from "../page-id.ts";
import { defineRoute, type Route } from "../route.ts";
import { onePageSchemaOut, pageOut, readingSchemaOut } from "../wire-types.ts";

/** Of one page; more are had among the records of its job. */
const RECORDS_MOST = 100;

const rules = z.strictObject({
  extract: jobSchema.shape.extract.describe("Rules as a job has them; without any, what every page gives."),
  links: z.string().min(1).max(2_000).optional().describe("Which links a job would follow: follow.links."),
});

export function pageReadingRoutes(deps: ApiDeps): Route[] {
  const { store, clock } = deps;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/pages/:id",
      scope: "read",
      tag: "Results",
      summary: "What is known of a page, and the first of its records",
      params: pageId,
      answers: { 200: { says: "The page, and at most 100 records.", json: onePageSchemaOut } },
      async handle({ params, caller }) {
        const page = await findOwnPage(deps, caller, params.id);
        const records = await store.readRecordsOfPage(page.id, RECORDS_MOST);
        return { status: 200, body: { jobId: page.jobId, page: pageOut(page), records: records.map(recordLine) } };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/pages/:id/extract",
      scope: "submit",
      tag: "Results",
      summary: "Try rules on a page that is kept, without fetching it again",
      says: "Changes nothing. The body has to be kept (keep.bodies): POST /v1/scrape with it fetches a page to try rules on. Rules that take longer than two seconds are 422, EXTRACT_TIMEOUT; where too many are tried at once, 429, EXTRACT_BUSY. Texts are cut at 10,000 characters, all of the answer at some 500,000.",
      params: pageId,
      body: rules,
      example: { extract: { title: "h1" }, links: "a[href]" },
      answers: { 200: { says: "What the rules make of it.", json: readingSchemaOut } },
      async handle({ params, body, caller, signal }) {
        const page = await findOwnPage(deps, caller, params.id);
        const part = { name: "body", ref: page.bodyRef, setting: "keep.bodies" };
        const bytes = await keptPart(deps, page, part);
        const begunAt = clock.now();
        const asker = { name: caller.tenant ?? caller.keyId ?? "", signal };
        const read = await deps.readPage({ rules: body.extract, links: body.links }, page, bytes, asker);
        return { status: 200, body: { ...read, tookMs: Math.max(0, Math.round(clock.now() - begunAt)) } };
      },
    }),
  ];
}
