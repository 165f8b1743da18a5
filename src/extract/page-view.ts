import { Document, type Element, type ParentNode } from "domhandler";
import type { ExtractInput } from "./extractor.ts";
import { readJsonLd } from "./json-ld.ts";
import type { LinkFinder } from "./link-selector.ts";
import { baseUrlOf, type Metadata, readMetadata } from "./metadata.ts";
import { readMicrodata } from "./microdata.ts";
import type { MarkupKind } from "./page-kind.ts";
import { parseDocument } from "./parse-html.ts";
import { scanPage } from "./scan-page.ts";
import type { Thing } from "./structured.ts";

/** The interface through which rules read a page. Expensive parts are computed once, on first use. */
export type PageView = {
  url: string;
  /** Empty in a view made by `viewScan`. */
  dom: Document;
  metadata(): Metadata;
  baseUrl(): string;
  /** Resolves a URL of the page. Undefined if it is invalid. */
  absolute(href: string): string | undefined;
  jsonLd(): readonly unknown[];
  /** Microdata of one element, or of the page. */
  microdata(within: Element | undefined): readonly Thing[];
  /** Links as written. A view made by `viewScan` ignores `find` and returns the `href`s of all `<a>`. */
  hrefs(find: LinkFinder): readonly string[];
};

/** Parses the page into a tree, for rules that need one. */
export function viewTree({ page, html }: ExtractInput, kind: MarkupKind): PageView {
  const dom = parseDocument(html, kind);
  return createView(
    page.url,
    dom,
    () => readMetadata(dom),
    (find) => find(dom),
  );
}

/** Reads metadata and the `href`s of all `<a>` in one pass, for rules that need no tree. */
export function viewScan(
  { page, html }: ExtractInput,
  { kind, obeysNofollow }: { kind: Exclude<MarkupKind, "xml">; obeysNofollow: boolean },
): PageView {
  const { metadata, followed } = scanPage(html, { kind, textChars: 0, obeysNofollow });
  return createView(
    page.url,
    new Document([]),
    () => metadata,
    () => followed,
  );
}

function createView(url: string, dom: Document, readPageMetadata: () => Metadata, hrefs: PageView["hrefs"]): PageView {
  const metadata = once(readPageMetadata);
  const baseUrl = once(() => baseUrlOf(metadata(), url));
  const things = new Map<ParentNode, readonly Thing[]>();

  function absolute(href: string): string | undefined {
    return URL.canParse(href, baseUrl()) ? new URL(href, baseUrl()).href : undefined;
  }

  function microdata(within: Element | undefined): readonly Thing[] {
    const root = within ?? dom;
    const known = things.get(root) ?? readMicrodata(root, (href) => absolute(href) ?? href);
    things.set(root, known);
    return known;
  }

  return { url, dom, metadata, baseUrl, absolute, jsonLd: once(() => readJsonLd(dom)), microdata, hrefs };
}

function once<Value>(read: () => Value): () => Value {
  let known: { value: Value } | undefined;
  return () => {
    known ??= { value: read() };
    return known.value;
  };
}
