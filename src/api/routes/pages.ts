/**
 * Bodies of pages, as they came from other people's sites. Whatever is in them, a browser that is led here saves it and
 * shows nothing: a script in one would otherwise run in the name of this server.
 */
import { z } from "zod";
import { TrawlError } from "../../errors.ts";
import type { StoredPage } from "../../store/store.ts";
import { type ApiDeps, isOwn } from "../api-deps.ts";
import { type Caller, defineRoute, type Route, type StreamAnswer } from "../route.ts";

const id = z.strictObject({
  id: z
    .string()
    .regex(/^[0-9]{1,15}$/, "is the number of a page, as GET /v1/jobs/{id}/pages has it")
    .transform(Number),
});

/** What the page itself said of its body may be anything. */
const MEDIA_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,60}(; ?charset="?[\w.:-]{1,40}"?)?$/i;
const UNKNOWN_TYPE = "application/octet-stream";

const HARMLESS = {
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
    summary: "The body of a page, as the site sent it",
    refOf: ({ bodyRef }) => bodyRef,
    typeOf: ({ contentType = "" }) => (MEDIA_TYPE.test(contentType) ? contentType : UNKNOWN_TYPE),
    ending: "body",
    setting: "keep.bodies",
  },
  {
    name: "screenshot",
    summary: "What a page looked like in the browser",
    refOf: ({ screenshotRef }) => screenshotRef,
    typeOf: () => "image/png",
    ending: "png",
    setting: "browser.screenshot",
  },
  {
    name: "pdf",
    summary: "A page as the browser would print it",
    refOf: ({ pdfRef }) => pdfRef,
    typeOf: () => "application/pdf",
    ending: "pdf",
    setting: "browser.pdf",
  },
];

export function pageRoutes(deps: ApiDeps): Route[] {
  return PARTS.map((part) =>
    defineRoute({
      method: "GET",
      path: `/v1/pages/:id/${part.name}`,
      scope: "read",
      tag: "Results",
      summary: part.summary,
      says: `Kept where the job asked for it: ${part.setting}.`,
      params: id,
      answers: { 200: { says: "Its bytes.", types: ["*/*"] } },
      async handle({ params, caller }) {
        const page = await findOwnPage(deps, caller, params.id);
        return partOf(deps, page, part);
      },
    }),
  );
}

/** A page belongs to its job, and that to a tenant. Throws NOT_FOUND. */
async function findOwnPage({ store, catalogue }: ApiDeps, caller: Caller, id: number): Promise<StoredPage> {
  const page = await store.findPage(id);
  if (page === undefined) throw missing(`there is no page ${id}; it may have been fetched anew, under another id`);
  const job = await catalogue.lookUp(page.jobId);
  // Pages may outlive a broker, and whoever sees everything sees these; not those of a job that was deleted.
  const isSeen = job === undefined ? caller.tenant === undefined : job !== "deleted" && isOwn(job, caller);
  if (isSeen) return page;
  throw missing(`there is no page ${id}; it may have been fetched anew, under another id`);
}

async function partOf({ bodies }: ApiDeps, page: StoredPage, part: Part): Promise<StreamAnswer> {
  const ref = part.refOf(page);
  if (ref === undefined) {
    throw missing(`no ${part.name} of page ${page.id} was kept; a job keeps them that has ${part.setting}`);
  }
  const bytes = await bodies.get(ref);
  if (bytes === undefined) throw missing(`the ${part.name} of page ${page.id} is not where bodies are kept any more`);
  return {
    status: 200,
    type: part.typeOf(page),
    stream: once(bytes),
    headers: {
      ...HARMLESS,
      "content-length": String(bytes.length),
      "content-disposition": `attachment; filename="page-${page.id}.${part.ending}"`,
    },
  };
}

function missing(message: string): TrawlError {
  return new TrawlError("NOT_FOUND", { op: "api.pages", message });
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  if (bytes.length > 0) yield bytes;
}
