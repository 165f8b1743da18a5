import type { Document, Element } from "domhandler";
import { compileCss } from "./css-selector.ts";
import { elementsIn } from "./elements.ts";
import { isNofollow } from "./page-directives.ts";
import { resolveLinks } from "./resolve-links.ts";

/** The default link selector. */
export const PLAIN_LINKS = "a[href]";

/** The links of a page as written, in order. */
export type LinkFinder = (dom: Document) => string[];

/**
 * Finds links by selector. A matched element yields its `href`, otherwise its `src`. An element with neither yields the
 * links inside it, so `.pagination` works like `.pagination a`.
 *
 * @throws TrawlError BAD_SELECTOR
 */
export function compileLinkSelector(selector: string, { obeysNofollow }: LinkOptions): LinkFinder {
  const css = compileCss(selector, "follow.links");
  return (dom) => css.all(dom, undefined).flatMap((element) => hrefsOf(element, obeysNofollow));
}

/** `obeysNofollow`: leave out links with `rel="nofollow"`. */
type LinkOptions = { obeysNofollow: boolean };

/**
 * The targets of the links that a selector matches: canonical, unique, in order.
 *
 * @throws TrawlError BAD_SELECTOR
 */
export function linksOf(dom: Document, selector: string, baseUrl: string): string[] {
  return resolveLinks(compileLinkSelector(selector, { obeysNofollow: false })(dom), baseUrl);
}

function hrefsOf(element: Element, obeysNofollow: boolean): string[] {
  const isLeftOut = ({ attribs }: Element) => obeysNofollow && isNofollow(attribs.rel);
  const own = element.attribs.href ?? element.attribs.src;
  if (own !== undefined) return isLeftOut(element) ? [] : [own];
  const hrefs: string[] = [];
  for (const inner of elementsIn(element)) {
    const { name, attribs } = inner;
    if (name === "a" && attribs.href !== undefined && !isLeftOut(inner)) hrefs.push(attribs.href);
  }
  return hrefs;
}
