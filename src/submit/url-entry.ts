/**
 * An entry of a list of URLs: a URL, or a request as JSON text, such as
 * `{"url":"https://a.example/search","method":"POST","form":{"q":"mug"}}`. Entries are texts, so that millions of plain
 * URLs need no objects.
 */
import { z } from "zod";
import { canonicalUrl } from "../domain/canonical-url.ts";
import {
  type BodySettings,
  bodyProblem,
  isLargeBody,
  MAX_REQUEST_BODY,
  METHODS,
  type Method,
  type TaskRequest,
} from "../domain/request.ts";
import { originOf } from "../domain/site.ts";
import { isSitemapTask } from "../domain/sitemap-task.ts";
import type { NewTask } from "../domain/task.ts";
import { pageUrlOf } from "../domain/task-url.ts";
import { headersSchema, lowerCaseNames } from "./header-schema.ts";
import { type sitemapsSchema, sitemapUrls } from "./sitemap-schema.ts";

/** Any JSON value. A spider may pass other values, such as functions, which are refused. */
export const jsonValue = z.unknown().refine(isJson, "takes a JSON value");

const formValue = z.union([z.string(), z.number(), z.boolean()]);

/** The parts of a request besides its URL. */
const requestParts = {
  method: z
    .string()
    .transform((text) => text.toUpperCase())
    .pipe(z.enum(METHODS, { error: `takes ${METHODS.join(", ")}` }))
    .optional(),
  headers: headersSchema.optional(),
  json: jsonValue.optional(),
  form: z.record(z.string(), z.union([formValue, z.array(formValue)])).optional(),
  body: z.string().optional(),
};

/** The parts of a request, as `follow` and the command line take them. */
export const requestPartsSchema = z.strictObject(requestParts).superRefine(checkBody);

const requestSchema = z
  .strictObject({
    url: z.string().meta({ examples: ["https://a.example/api"] }),
    ...requestParts,
    sitemap: z.literal(true).optional().describe("Read the URL as a sitemap."),
  })
  .superRefine(checkSitemap)
  .superRefine(checkBody);

/** Parses an entry of `urls` into its text. */
export const entrySchema = z.union(
  [
    z.string().meta({ examples: ["https://a.example/", "https://b.example/shoes?page=2"] }),
    requestSchema.transform((request) => JSON.stringify(request)),
  ],
  { error: entryProblem },
);

/** The message for an invalid entry. For an object, it names the invalid parts of the request. */
function entryProblem({ code, input, ...issue }: z.core.$ZodRawIssue): string | undefined {
  if (code !== "invalid_union") return undefined;
  const [, problems = []] = issue.errors as z.core.$ZodIssue[][];
  const isRequest = typeof input === "object" && input !== null && !Array.isArray(input);
  return isRequest
    ? problemText(problems)
    : 'takes a URL, or a request such as { "url": "https://a.example/", "json": {} }';
}

export type RequestParts = z.output<typeof requestPartsSchema>;

/**
 * The URL of an entry, and its request if it is not a plain GET. `isSitemap`: the URL is read as a sitemap. `problem`:
 * why the entry is invalid.
 */
export type ReadEntry = { url: string; request?: TaskRequest; isSitemap?: true } | { url: string; problem: string };

export function readEntry(entry: string): ReadEntry {
  const text = entry.trim();
  if (!text.startsWith("{")) return { url: text };
  const parsed = requestSchema.safeParse(parseJson(text));
  if (!parsed.success) return { url: text, problem: `not a valid request: ${problemText(parsed.error.issues)}` };
  const { url, sitemap, ...parts } = parsed.data;
  if (sitemap === true) return { url, isSitemap: true };
  const request = requestOf(parts);
  return request === undefined ? { url } : { url, request };
}

/** Whether the request of an entry has a body that is stored in TRAWL_BODIES. */
export function hasLargeBody(entry: string): boolean {
  if (!isLargeBody({ body: entry })) return false;
  const read = readEntry(entry);
  return "request" in read && read.request !== undefined && isLargeBody(read.request);
}

/** Why the body of a request cannot be sent; undefined if it can. */
export function requestProblem({ body }: Pick<TaskRequest, "body">, settings: BodySettings): string | undefined {
  return body === undefined ? undefined : bodyProblem(Buffer.byteLength(body), settings);
}

/** The entry of a task that `firstTasks` has made. */
export function entryOf({ url, request }: Pick<NewTask, "url" | "request">): string {
  if (isSitemapTask({ url })) return sitemapEntry(pageUrlOf(url));
  return request === undefined ? url : JSON.stringify({ url: pageUrlOf(url), ...request });
}

/** The entry of a sitemap. */
export function sitemapEntry(url: string): string {
  return JSON.stringify({ url, sitemap: true });
}

export function isSitemapEntry(entry: string): boolean {
  return "isSitemap" in readEntry(entry);
}

/** The entries with which a job starts: its sitemaps and its URLs. */
export function startEntries({ urls = [], sitemaps }: StartingJob): string[] {
  const named = sitemapUrls(sitemaps).map(sitemapEntry);
  if (named.length === 0) return [...urls];
  // The list of a job that is submitted over HTTP already contains them.
  const given = new Set(urls);
  return [...new Set(named)].filter((entry) => !given.has(entry)).concat(urls);
}

type StartingJob = {
  urls?: readonly string[] | undefined;
  sitemaps?: z.output<typeof sitemapsSchema> | undefined;
};

/** An entry as users write it: a URL, or a request as an object. */
export function entryAsWritten(entry: string): z.input<typeof entrySchema> {
  return entry.startsWith("{") ? (JSON.parse(entry) as z.input<typeof requestSchema>) : entry;
}

/** The URL of an entry, without its request. */
export function urlOfEntry(entry: string): string {
  return readEntry(entry).url;
}

/** The canonical URL of an entry; undefined if it cannot be fetched. */
export function canonicalEntryUrl(entry: string): string | undefined {
  const read = readEntry(entry);
  return "problem" in read ? undefined : canonicalUrl(read.url);
}

/** The maximum number of origins that a job remembers. */
const MAX_ORIGINS = 1_000;

/** The origins of the entries, each once. */
export function originsOf(entries: readonly string[]): string[] {
  const origins = new Set<string>();
  for (const entry of entries) {
    const url = canonicalEntryUrl(entry);
    if (url !== undefined) origins.add(originOf(url));
    if (origins.size === MAX_ORIGINS) break;
  }
  return [...origins];
}

/** The request of a task; undefined for a plain GET. */
export function requestOf(parts: RequestParts): TaskRequest | undefined {
  const content = contentOf(parts);
  const own = lowerCaseNames(parts.headers ?? {});
  const headers = content === undefined ? own : { "content-type": content.type, ...own };
  const method: Method = parts.method ?? (content === undefined ? "GET" : "POST");
  if (method === "GET" && Object.keys(headers).length === 0) return undefined;
  return {
    method,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(content === undefined ? {} : { body: content.body }),
  };
}

function contentOf({ json, form, body }: RequestParts): { type: string; body: string } | undefined {
  if (json !== undefined) return { type: "application/json", body: JSON.stringify(json) };
  if (form !== undefined) return { type: "application/x-www-form-urlencoded", body: formBody(form) };
  return body === undefined ? undefined : { type: "text/plain;charset=UTF-8", body };
}

function formBody(form: NonNullable<RequestParts["form"]>): string {
  const fields = Object.entries(form).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, String(one)] as [string, string]),
  );
  return new URLSearchParams(fields).toString();
}

function checkSitemap(
  { sitemap, method = "GET", headers, ...body }: z.output<typeof requestPartsSchema> & { sitemap?: true | undefined },
  context: z.core.$RefinementCtx,
): void {
  const hasBody = body.json !== undefined || body.form !== undefined || body.body !== undefined;
  if (sitemap !== true || (method === "GET" && headers === undefined && !hasBody)) return;
  const message = "a sitemap is fetched by GET with the headers of the job; remove the other keys of the request";
  context.addIssue({ code: "custom", path: ["sitemap"], message });
}

function checkBody(parts: RequestParts, context: z.core.$RefinementCtx): void {
  const given = (["json", "form", "body"] as const).filter((key) => parts[key] !== undefined);
  if (given.length > 1) {
    context.addIssue({ code: "custom", path: [given[1] ?? ""], message: `cannot be combined with ${given[0]}` });
    return;
  }
  const [key] = given;
  if (key === undefined) return;
  if (parts.method === "GET" || parts.method === "HEAD") {
    context.addIssue({ code: "custom", path: [key], message: `a ${parts.method} request has no body; use POST` });
  }
  const bytes = Buffer.byteLength(contentOf(parts)?.body ?? "");
  if (bytes > MAX_REQUEST_BODY) {
    const message = `the body has ${bytes} bytes, more than the limit of ${MAX_REQUEST_BODY}`;
    context.addIssue({ code: "custom", path: [key], message });
  }
}

function isJson(value: unknown): boolean {
  try {
    return value === undefined || JSON.stringify(value) !== undefined;
  } catch {
    return false; // a cycle or a bigint
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function problemText(issues: readonly z.core.$ZodIssue[]): string {
  return issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`)).join("; ");
}
