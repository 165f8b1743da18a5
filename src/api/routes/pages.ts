/**
 * Bodies of pages, as they came from other people's sites. Whatever is in them, a browser that is led here saves it and
 * shows nothing: a script in one would otherwise run in the name of this server.
 */
import type { StoredPage } from "../../store/store.ts";
import type { ApiDeps } from "../api-deps.ts";
import { findOwnPage, keptPart } from "../find-own-page.ts";
import { pageId } from "../page-id.ts";
import { defineRoute, type Route, type StreamAnswer } from "../route.ts";
import { once } from "../stream-of.ts";

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
      params: pageId,
      answers: { 200: { says: "Its bytes.", types: ["*/*"] } },
      async handle({ params, caller }) {
        const page = await findOwnPage(deps, caller, params.id);
        return partOf(deps, page, part);
      },
    }),
  );
}

async function partOf(deps: ApiDeps, page: StoredPage, part: Part): Promise<StreamAnswer> {
  const { name, setting } = part;
  const bytes = await keptPart(deps, page, { name, setting, ref: part.refOf(page) });
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
