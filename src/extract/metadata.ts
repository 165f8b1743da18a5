import type { Document, Element } from "domhandler";
import { elementsIn } from "./elements.ts";
import { collapse, HIDDEN_TAGS, rawTextOf } from "./visible-text.ts";

/** Metadata of a page. `scanPage` and `readMetadata` return the same for the same page. */
export type Metadata = {
  /** The first `<title>` with text, outside of SVG. */
  title: string | null;
  /**
   * Contents of `<meta>` by their `name` or `property` in lower case: `description`, `og:image`, `twitter:card`. In
   * document order, with white space collapsed; empty contents are left out.
   */
  metas: ReadonlyMap<string, readonly string[]>;
  /** The first `<link rel="canonical">`, as written. */
  canonicalHref: string | undefined;
  /** The first `<base href>`, as written. */
  baseHref: string | undefined;
  /** The first `<link rel="next">`, as written. */
  nextHref: string | undefined;
  /**
   * The content of the first `<meta http-equiv="refresh">`. One in `<noscript>` does not count: it is for browsers
   * without scripts, and would hide the page.
   */
  refresh: string | undefined;
};

/** Collects metadata tag by tag. Both readers use it, so their results are equal. */
export class MetadataCollector implements Metadata {
  title: string | null = null;
  readonly metas = new Map<string, string[]>();
  canonicalHref: string | undefined;
  baseHref: string | undefined;
  nextHref: string | undefined;
  refresh: string | undefined;

  addTitle(text: string): void {
    this.title ??= collapse(text) || null;
  }

  addMeta(name: string | undefined, property: string | undefined, content: string | undefined): void {
    const value = content === undefined ? "" : collapse(content);
    if (value === "") return;
    this.#addMetaValue(name, value);
    if (property !== name) this.#addMetaValue(property, value);
  }

  addLink(rel: string | undefined, href: string | undefined): void {
    if (rel === undefined || href === undefined) return;
    if (this.canonicalHref === undefined && /(?:^|\s)canonical(?:\s|$)/i.test(rel)) this.canonicalHref = href;
    if (this.nextHref === undefined && /(?:^|\s)next(?:\s|$)/i.test(rel)) this.nextHref = href;
  }

  addEquiv(equiv: string, content: string | undefined): void {
    if (this.refresh === undefined && equiv.trim().toLowerCase() === "refresh") this.refresh = content;
  }

  #addMetaValue(key: string | undefined, value: string): void {
    if (key === undefined) return;
    const name = key.trim().toLowerCase();
    const values = this.metas.get(name);
    if (values === undefined) this.metas.set(name, [value]);
    else values.push(value);
  }
}

/** The metadata of a parsed page. */
export function readMetadata(dom: Document): Metadata {
  const collector = new MetadataCollector();
  for (const element of elementsIn(dom)) collect(element, collector);
  return collector;
}

/** The first content of a `<meta>` by any of these names, or null. */
export function firstMeta({ metas }: Metadata, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = metas.get(name)?.[0];
    if (value !== undefined) return value;
  }
  return null;
}

/** The base of the page's relative URLs: a valid `<base>`, otherwise the page's own URL. */
export function baseUrlOf({ baseHref }: Pick<Metadata, "baseHref">, pageUrl: string): string {
  if (baseHref === undefined || !URL.canParse(baseHref, pageUrl)) return pageUrl;
  const base = new URL(baseHref, pageUrl);
  return base.protocol === "https:" || base.protocol === "http:" ? base.href : pageUrl;
}

function collect(element: Element, collector: MetadataCollector): void {
  const { name, attribs } = element;
  if (name === "meta") {
    collector.addMeta(attribs.name, attribs.property, attribs.content);
    const equiv = attribs["http-equiv"];
    if (equiv !== undefined && !isInside(element, HIDDEN_TAGS)) collector.addEquiv(equiv, attribs.content);
  }
  if (name === "link") collector.addLink(attribs.rel, attribs.href);
  else if (name === "base") collector.baseHref ??= attribs.href;
  else if (name === "title" && !isInside(element, SVG)) collector.addTitle(rawTextOf(element));
}

const SVG: ReadonlySet<string> = new Set(["svg"]);

function isInside(element: Element, names: ReadonlySet<string>): boolean {
  for (let node = element.parent; node !== null; node = node.parent) {
    if ("name" in node && names.has(node.name)) return true;
  }
  return false;
}
