/**
 * Applies the directives of a page and its headers: a refresh, the next page, and robots directives.
 */
import { canonicalUrl } from "../domain/canonical-url.ts";
import { parseLinkHeader } from "../domain/link-header.ts";
import type { Page } from "../domain/page.ts";
import { refreshTarget } from "../domain/refresh.ts";
import type { Extraction } from "./extractor.ts";
import { baseUrlOf, type Metadata } from "./metadata.ts";

type DirectiveOptions = {
  /** Whether robots directives are obeyed: `noindex`, `nofollow` and `none`. */
  metaRobots: boolean;
  /** Whether the next page is followed: `rel=next` in the header `Link`, or in a `<link>`. */
  followsNext: boolean;
};
type DirectiveInput = DirectiveOptions & {
  page: Page;
  /** Undefined if the page has no metadata that could be a directive. */
  metadata: Metadata | undefined;
};

/** The reason of the invalid record that replaces the records of a page with `noindex`. */
export const NOINDEX = "the page has the robots directive noindex, and politeness.metaRobots is true";

/**
 * Adds the refresh and the link to the next page, and removes what robots directives exclude. Returns `extraction`
 * itself for a page without directives: it runs for every page.
 */
export function applyDirectives(extraction: Extraction, input: DirectiveInput): Extraction {
  const { page, metadata, metaRobots, followsNext } = input;
  const { refresh = metadata?.refresh, link } = page.headers;
  let changed = extraction;
  if (followsNext && (link !== undefined || metadata?.nextHref !== undefined)) {
    changed = { ...changed, links: [...new Set([...changed.links, ...nextPages(page, metadata)])] };
  }
  if (refresh !== undefined) {
    const target = refreshTarget(refresh);
    const url = target === undefined ? undefined : canonicalUrl(target, baseOf(page, metadata));
    // A page that reloads itself is an ordinary page.
    if (url !== undefined && url !== canonicalUrl(page.url)) changed = { ...changed, refresh: url };
  }
  return metaRobots ? obeyRobots(changed, page, metadata) : changed;
}

/** Whether the metadata of a page may contain directives. If false, it contains none. */
export function mayHaveDirectives(html: string, { metaRobots, followsNext }: DirectiveOptions): boolean {
  return metaRobots || followsNext || /http-equiv/i.test(html);
}

/** Whether the `rel` of a link contains `nofollow`. */
export function isNofollow(rel: string | undefined): boolean {
  return rel !== undefined && /(?:^|\s)nofollow(?:\s|$)/i.test(rel);
}

function nextPages(page: Page, metadata: Metadata | undefined): string[] {
  const ownNext = metadata?.nextHref;
  const inHeader = parseLinkHeader(page.headers.link ?? "").filter(({ rels }) => rels.includes("next"));
  return [
    // The header does not depend on `<base>`.
    ...inHeader.map(({ target }) => canonicalUrl(target, page.url)),
    ownNext === undefined ? undefined : canonicalUrl(ownNext, baseOf(page, metadata)),
  ].filter((url) => url !== undefined);
}

function baseOf(page: Page, metadata: Metadata | undefined): string {
  return metadata === undefined ? page.url : baseUrlOf(metadata, page.url);
}

function obeyRobots(extraction: Extraction, page: Page, metadata: Metadata | undefined): Extraction {
  const header = page.headers["x-robots-tag"];
  const texts = [...(metadata?.metas.get("robots") ?? []), ...(header === undefined ? [] : [withoutAgents(header)])];
  if (texts.length === 0) return extraction;
  const directives = new Set(texts.flatMap((text) => text.toLowerCase().split(/[\s,]+/)));
  const links = directives.has("nofollow") || directives.has("none") ? [] : extraction.links;
  if (!directives.has("noindex") && !directives.has("none")) return { ...extraction, links };
  return { ...extraction, links, records: [], invalid: [{ fields: {}, reason: NOINDEX }] };
}

/** Removes the directives of X-Robots-Tag that name a crawler: they start with its name, as in `otherbot: noindex`. */
function withoutAgents(header: string): string {
  let isForAll = true;
  const kept: string[] = [];
  for (const part of header.split(",")) {
    const name = /^\s*([\w-]+)\s*:/.exec(part)?.[1]?.toLowerCase();
    // These directives have a value.
    if (name !== undefined && !name.startsWith("max-") && name !== "unavailable_after") isForAll = false;
    if (isForAll) kept.push(part);
  }
  return kept.join(",");
}
