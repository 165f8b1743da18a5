/**
 * One page: its metadata, its stored body, screenshot and PDF, and a preview of extraction rules on it. The body comes
 * from an untrusted site. A browser that opens the URL downloads the file instead of displaying it; otherwise a script
 * in the page would run with the origin of this server.
 */
import { z } from "zod";
import { type Caller, isOwn } from "../../control/caller.ts";
import { TrawlError } from "../../errors.ts";
import { recordLine } from "../../store/export/record-line.ts";
import type { StoredPage } from "../../store/store.ts";
import { jobSchema } from "../../submit/job-schema.ts";
import type { ApiDeps } from "../api-deps.ts";
import { once } from "../response-stream.ts";
import { type ApiRoute, defineRoute, type StreamResponse } from "../route.ts";
import { extractionPreviewSchemaOut, onePageSchemaOut, pageOut } from "../wire/results.ts";

/** The maximum number of records in the response. `GET /v1/jobs/{id}/records` has all of them. */
const MAX_RECORDS = 100;

const pageId = z.strictObject({
  id: z
    .string()
    .regex(/^[0-9]{1,15}$/, "takes the number of a page, as in GET /v1/jobs/{id}/pages")
    .transform(Number),
});
const rules = z.strictObject({
  extract: jobSchema.shape.extract.describe("Rules as in a job. Without rules: the default fields of every page."),
  links: z
    .string()
    .min(1)
    .max(2_000)
    .optional()
    .describe("The selector of links to follow, like follow.links of a job."),
});

/** The content type comes from the site and may be any text; only values of this form are sent. */
const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,60}(; ?charset="?[\w.:-]{1,40}"?)?$/i;
const UNKNOWN_TYPE = "application/octet-stream";

const DOWNLOAD_HEADERS = {
  "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
};

type Part = {
  name: string;
  summary: string;
  refOf(page: StoredPage): string | undefined;
  typeOf(page: StoredPage): string;
  ending: string;
  setting: string;
};

const PARTS: readonly Part[] = [
  {
    name: "body",
    summary: "Download the body of a page, after decompression or rendering",
    refOf: ({ bodyRef }) => bodyRef,
    typeOf: ({ contentType = "" }) => (MEDIA_TYPE.test(contentType) ? contentType : UNKNOWN_TYPE),
    ending: "body",
    setting: "keep.bodies",
  },
  {
    name: "screenshot",
    summary: "Download the screenshot of a page",
    refOf: ({ screenshotRef }) => screenshotRef,
    typeOf: () => "image/png",
    ending: "png",
    setting: "browser.screenshot",
  },
  {
    name: "pdf",
    summary: "Download a page as PDF",
    refOf: ({ pdfRef }) => pdfRef,
    typeOf: () => "application/pdf",
    ending: "pdf",
    setting: "browser.pdf",
  },
];

export function pageRoutes(deps: ApiDeps): ApiRoute[] {
  const { store, clock } = deps;
  return [
    defineRoute({
      method: "GET",
      path: "/v1/pages/:id",
      scope: "read",
      tag: "Results",
      summary: "Get a page and its first records",
      params: pageId,
      responses: { 200: { description: "The page, and at most 100 records.", json: onePageSchemaOut } },
      async handle({ params, caller }) {
        const page = await findOwnPage(deps, caller, params.id);
        const records = await store.readRecordsOfPage(page.id, MAX_RECORDS);
        return { status: 200, body: { jobId: page.jobId, page: pageOut(page), records: records.map(recordLine) } };
      },
    }),
    defineRoute({
      method: "POST",
      path: "/v1/pages/:id/extract",
      scope: "submit",
      tag: "Results",
      summary: "Preview extraction rules on a stored page",
      description:
        "Fetches nothing and changes nothing. The page's body must be stored (keep.bodies). To fetch a page for a test, use POST /v1/scrape with keep.bodies. Rules that run longer than TRAWL_API_TRY_RULES (2 s by default), or need too much memory, return 422 EXTRACT_TIMEOUT. Too many previews at once return 429 EXTRACT_BUSY. Each text is truncated to 10,000 characters, and the whole response to about 500,000 characters.",
      params: pageId,
      body: rules,
      example: { extract: { title: "h1" }, links: "a[href]" },
      responses: { 200: { description: "The extracted records and links.", json: extractionPreviewSchemaOut } },
      async handle({ params, body, caller, signal }) {
        const page = await findOwnPage(deps, caller, params.id);
        const bytes = await readPart(deps, page, { name: "body", ref: page.bodyRef, setting: "keep.bodies" });
        const startedAt = clock.now();
        const requester = { name: caller.tenant ?? caller.keyId ?? "", signal };
        const preview = await deps.previewRules({ rules: body.extract, links: body.links }, page, bytes, requester);
        return { status: 200, body: { ...preview, tookMs: Math.max(0, Math.round(clock.now() - startedAt)) } };
      },
    }),
    ...PARTS.map((part) =>
      defineRoute({
        method: "GET",
        path: `/v1/pages/:id/${part.name}`,
        scope: "read",
        tag: "Results",
        summary: part.summary,
        description: `Stored if the job was submitted with ${part.setting}.`,
        params: pageId,
        responses: { 200: { description: "The file.", types: ["*/*"] } },
        handle: async ({ params, caller }) => download(deps, await findOwnPage(deps, caller, params.id), part),
      }),
    ),
  ];
}

/** Finds a page of a job that the caller may see. Throws NOT_FOUND. */
async function findOwnPage({ store, catalogue }: ApiDeps, caller: Caller, id: number): Promise<StoredPage> {
  const page = await store.findPage(id);
  const job = page && (await catalogue.lookUp(page.jobId));
  // The store may contain pages of a broker that no longer exists. Callers without a tenant see them. Pages of deleted
  // jobs are not visible.
  const isVisible = job === undefined ? caller.tenant === undefined : job !== "deleted" && isOwn(job, caller);
  if (page !== undefined && isVisible) return page;
  throw pageMissing(`there is no page ${id}; if it was fetched again, it has a new id`);
}

async function download(deps: ApiDeps, page: StoredPage, part: Part): Promise<StreamResponse> {
  const { name, setting } = part;
  const bytes = await readPart(deps, page, { name, setting, ref: part.refOf(page) });
  return {
    status: 200,
    type: part.typeOf(page),
    stream: once(bytes),
    headers: {
      ...DOWNLOAD_HEADERS,
      "content-length": String(bytes.length),
      "content-disposition": `attachment; filename="page-${page.id}.${part.ending}"`,
    },
  };
}

/** Reads a stored file of a page. Throws NOT_FOUND if it was not stored, or is no longer stored. */
async function readPart(
  { bodies }: ApiDeps,
  page: StoredPage,
  { name, ref, setting }: { name: string; ref: string | undefined; setting: string },
): Promise<Buffer> {
  if (ref === undefined) throw pageMissing(`page ${page.id} has no stored ${name}; submit the job with ${setting}`);
  const bytes = await bodies.get(ref);
  if (bytes !== undefined) return bytes;
  throw pageMissing(`the ${name} of page ${page.id} is no longer in the body storage`);
}

function pageMissing(message: string): TrawlError {
  return new TrawlError("NOT_FOUND", { op: "api.pages", message });
}
