/** Sources of field values: a CSS selector, or metadata of the page. */
import type { Element } from "domhandler";
import { TrawlError } from "../errors.ts";
import { compileCss } from "./css-selector.ts";
import type { PageView } from "./page-view.ts";
import { parseThingPath, type ThingPath, valuesAt } from "./structured.ts";

/** The page, and the element to read from. If `within` is undefined, the whole page is read. */
export type Scope = { view: PageView; within: Element | undefined };

/** A match of a source: an element, an attribute of an element, or a value. */
export type Found = { element: Element; attribute: string | undefined } | { value: unknown };

export type Source = {
  /** False if the source needs only metadata and no tree. */
  usesTree: boolean;
  /** True if values have their own types, as in JSON-LD. */
  isTyped: boolean;
  first(scope: Scope): Found | undefined;
  all(scope: Scope): readonly Found[];
};

/**
 * Compiles a source, such as `h1`, `img@src`, `@href`, `jsonld:Product.name`, `microdata:Product.name`, `meta:author`,
 * `og:title`, `twitter:card`, `url`, `title` or `canonical`.
 *
 * @param owner names the rule in the error, e.g. `field "price"`. @throws TrawlError BAD_SELECTOR
 */
export function compileSource(text: string, owner: string): Source {
  const pageValue = Object.hasOwn(PAGE_VALUES, text) ? PAGE_VALUES[text] : undefined;
  if (pageValue !== undefined) return valueSource(({ view }) => [pageValue(view)], PLAIN);
  const prefix = PREFIX.exec(text)?.[1]?.toLowerCase();
  if (prefix === undefined) return cssSource(text, owner);
  const rest = text.slice(prefix.length + 1).trim();
  if (prefix === "jsonld") {
    const path = thingPath(rest, text, owner);
    return valueSource(({ view }) => valuesAt(view.jsonLd(), path), { usesTree: true, isTyped: true });
  }
  if (prefix === "microdata") {
    const path = thingPath(rest, text, owner);
    return valueSource(({ view, within }) => valuesAt(view.microdata(within), path), { usesTree: true, isTyped: true });
  }
  const name = (prefix === "meta" ? rest : `${prefix}:${rest}`).toLowerCase();
  return valueSource(({ view }) => view.metadata().metas.get(name) ?? [], PLAIN);
}

/** Whether a source is a CSS selector. Only such a source may have `fields`. */
export function isCssSource(text: string): boolean {
  return !PREFIX.test(text) && !Object.hasOwn(PAGE_VALUES, text);
}

/** Splits `img@src` in two. An `@` with a name at the end of the text is never inside brackets or quotes. */
function splitAttribute(text: string): { selector: string; attribute: string | undefined } {
  const match = /@([a-z_:][\w:.-]*)$/i.exec(text);
  if (match === null) return { selector: text, attribute: undefined };
  return { selector: text.slice(0, match.index).trim() || ":scope", attribute: match[1]?.toLowerCase() };
}

const PREFIX = /^(jsonld|microdata|meta|og|twitter):/i;
const PAGE_VALUES: Readonly<Record<string, (view: PageView) => string | null | undefined>> = {
  url: (view) => view.url,
  title: (view) => view.metadata().title,
  canonical: canonicalOf,
};
const PLAIN = { usesTree: false, isTyped: false };

function valueSource(read: (scope: Scope) => readonly unknown[], traits: Pick<Source, "usesTree" | "isTyped">): Source {
  const all = (scope: Scope): Found[] => {
    const values = read(scope).filter((value) => value !== null && value !== undefined);
    return values.map((value) => ({ value }));
  };
  return { ...traits, all, first: (scope) => all(scope)[0] };
}

function cssSource(text: string, owner: string): Source {
  const { selector, attribute } = splitAttribute(text);
  const css = compileCss(selector, owner);
  return {
    usesTree: true,
    isTyped: false,
    first({ view, within }) {
      const element = css.first(view.dom, within);
      return element && { element, attribute };
    },
    all: ({ view, within }) => css.all(view.dom, within).map((element) => ({ element, attribute })),
  };
}

function thingPath(rest: string, text: string, owner: string): ThingPath {
  const path = parseThingPath(rest);
  if (path !== undefined) return path;
  throw new TrawlError("BAD_SELECTOR", {
    op: "extract.compile",
    message: `${owner}: ${JSON.stringify(text)} needs a type and a path with dots, such as jsonld:Product.offers.price`,
    detail: { owner, selector: text },
  });
}

function canonicalOf(view: PageView): string | undefined {
  const { canonicalHref } = view.metadata();
  return canonicalHref === undefined ? undefined : view.absolute(canonicalHref);
}
