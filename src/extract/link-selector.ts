import type { Document, Element } from "domhandler";
import { compileCss } from "./css-selector.ts";
import { elementsIn } from "./elements.ts";
import { resolveLinks } from "./resolve-links.ts";

/** What is followed unless a job says otherwise. */
export const PLAIN_LINKS = "a[href]";

/** The links of a page as written, in order. */
export type LinkFinder = (dom: Document) => string[];

/**
 * Finds links by selector. A matched element gives its `href`, else its `src`; one that has neither gives the links
 * inside it, so `.pagination` works as well as `.pagination a`.
 *
 * @throws TrawlError BAD_SELECTOR
 */
export function compileLinkSelector(selector: string): LinkFinder {
  const css = compileCss(selector, "follow.links");
  return (dom) => css.all(dom, undefined).flatMap(hrefsOf);
}

/**
 * Where the links that a selector finds lead to, in canonical form, each once, in order.
 *
 * @throws TrawlError BAD_SELECTOR
 */
export function linksOf(dom: Document, selector: string, baseUrl: string): string[] {
  return resolveLinks(compileLinkSelector(selector)(dom), baseUrl);
}

function hrefsOf(element: Element): string[] {
  const own = element.attribs.href ?? element.attribs.src;
  if (own !== undefined) return [own];
  const hrefs: string[] = [];
  for (const { name, attribs } of elementsIn(element)) {
    if (name === "a" && attribs.href !== undefined) hrefs.push(attribs.href);
  }
  return hrefs;
}
