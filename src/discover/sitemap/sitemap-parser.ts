/**
 * Parses the text of one sitemap as a stream: an XML sitemap or sitemap index, an RSS or Atom feed, or a list of URLs.
 * It keeps no tree and at most one entry. Elements are recognised by their name without the namespace prefix, because
 * many sitemaps declare a wrong namespace or none.
 *
 * Entities: only the five of XML and character references are decoded. A DOCTYPE is skipped, so entities that it defines
 * are not expanded, and nothing outside the file is read.
 */
import { decodeXML } from "entities/decode";
import { MAX_URL_LENGTH } from "../../domain/canonical-url.ts";
import { type XmlEvents, XmlScanner } from "./xml-scanner.ts";

/** `url` and `lastmod` as written, without surrounding whitespace. */
export type RawEntry = { url: string; lastmod?: string };

/** What the entries of a file are: pages, or other sitemaps. */
export type SitemapKind = "pages" | "index";

export type SitemapParser = {
  write(text: string): void;
  /** Ends the text. Returns what the entries are, or why the text is not a sitemap. */
  end(): { kind: SitemapKind } | { problem: string };
  /** Set as soon as it is certain that the text is not a sitemap. The rest of the text need not be written. */
  problem(): string | undefined;
};

/** Elements nested deeper than in any feed. */
const MAX_NESTING = 256;
const MAX_TEXT = MAX_URL_LENGTH + 256;

/** Chooses the parser by the first character that is no whitespace. `onEntry` is called for each entry. */
export function createSitemapParser(onEntry: (entry: RawEntry, kind: SitemapKind) => void): SitemapParser {
  let chosen: SitemapParser | undefined;
  return {
    write(text) {
      const start = chosen === undefined ? text.trimStart() : text;
      if (start === "") return;
      chosen ??= start.startsWith("<") ? createXmlParser(onEntry) : createListParser(onEntry);
      chosen.write(start);
    },
    end: () => chosen?.end() ?? { problem: "the file is empty" },
    problem: () => chosen?.problem(),
  };
}

/** One URL per line. Lines that are not absolute http(s) URLs are skipped. */
function createListParser(onEntry: (entry: RawEntry, kind: SitemapKind) => void): SitemapParser {
  let rest = "";
  let urls = 0;
  let skipped = 0;
  let isBinary = false;

  function readLine(line: string): void {
    const url = line.trim();
    if (url === "") return;
    if (!/^https?:\/\//i.test(url)) skipped += 1;
    else {
      urls += 1;
      onEntry({ url }, "pages");
    }
  }

  const problem = () => {
    if (isBinary) return "the file is binary, and is no sitemap";
    return urls === 0 && skipped > MAX_SKIPPED ? "the file is neither XML nor a list of URLs" : undefined;
  };

  return {
    problem,
    write(text) {
      if (text.includes("\0")) isBinary = true;
      if (problem() !== undefined) return;
      const lines = (rest + text).split(/\r\n|\n|\r/);
      rest = (lines.pop() ?? "").slice(0, MAX_TEXT);
      for (const line of lines) readLine(line);
    },
    end() {
      readLine(rest);
      const found = problem() ?? (urls === 0 ? "the file is neither XML nor a list of URLs" : undefined);
      return found === undefined ? { kind: "pages" } : { problem: found };
    },
  };
}

/** A list may start with a few lines of other text. */
const MAX_SKIPPED = 1_000;

/**
 * The format of an XML file, by its root element. `entry`: the element of one entry. `dates`: elements with the date of
 * an entry; the first one takes precedence.
 */
const FORMATS: Readonly<Record<string, { entry: string; kind: SitemapKind; dates: readonly string[] }>> = {
  urlset: { entry: "url", kind: "pages", dates: ["lastmod"] },
  sitemapindex: { entry: "sitemap", kind: "index", dates: ["lastmod"] },
  rss: { entry: "item", kind: "pages", dates: ["pubdate", "date"] },
  rdf: { entry: "item", kind: "pages", dates: ["date"] },
  feed: { entry: "entry", kind: "pages", dates: ["updated", "modified", "published"] },
};

/** The elements whose text is read, directly in an entry. `own`: the text of the entry itself. */
type Field = "loc" | "link" | "guid" | "date" | "own";

function createXmlParser(onEntry: (entry: RawEntry, kind: SitemapKind) => void): SitemapParser {
  let format: (typeof FORMATS)[string] | undefined;
  let found: string | undefined;
  let depth = 0;
  /** The depth of the current entry; 0 outside of entries. */
  let entryDepth = 0;
  let texts: Partial<Record<Field, string>> = {};
  let field: Field | undefined;
  let fieldDepth = 0;

  /** The field that an element is; undefined for elements that are not read. */
  function fieldOf(name: string, attributes: string): Field | undefined {
    const { prefix, local } = partsOf(name);
    // The date of a news article, for sitemaps without lastmod. It is the only element of an extension that is read.
    if (prefix === "news" && local === "publication_date") return texts.date === undefined ? "date" : undefined;
    if (depth !== entryDepth + 1) return undefined;
    if (format?.dates.includes(local))
      return texts.date === undefined || local === format.dates[0] ? "date" : undefined;
    if (local === "loc" && !EXTENSIONS.has(prefix)) return "loc";
    if (local === "guid") return "guid";
    if (local !== "link" || EXTENSIONS.has(prefix)) return undefined;
    const href = attributeOf(attributes, "href");
    if (href === undefined) return "link";
    // Atom. Other relations are not the page: comments, enclosures, the feed itself.
    if ((attributeOf(attributes, "rel") ?? "alternate") === "alternate") texts.link ??= href;
    return undefined;
  }

  function endEntry(): void {
    const { loc, link, guid, own, date } = texts;
    const candidates = [loc, link, isHttp(guid) ? guid : undefined, isHttp(own) ? own : undefined];
    const url = candidates.find((text) => text !== undefined && text.trim() !== "")?.trim();
    const lastmod = date?.trim();
    entryDepth = 0;
    texts = {};
    if (url === undefined || format === undefined) return;
    onEntry(lastmod === undefined || lastmod === "" ? { url } : { url, lastmod }, format.kind);
  }

  function fail(problem: string): void {
    found ??= problem;
    scanner.stop();
  }

  const events: XmlEvents = {
    opened(name, attributes) {
      depth += 1;
      if (depth > MAX_NESTING) return fail(`elements are nested deeper than ${MAX_NESTING}`);
      const { local } = partsOf(name);
      if (format === undefined) {
        format = FORMATS[local];
        if (format === undefined) fail(notASitemap(local));
      } else if (local === format.entry && (entryDepth === 0 || depth === entryDepth + 1)) {
        if (entryDepth > 0) endEntry(); // its closing tag is missing
        entryDepth = depth;
        field = "own";
        fieldDepth = depth;
      } else if (entryDepth > 0) {
        const next = fieldOf(name, attributes);
        if (next === undefined) return;
        field = next;
        fieldDepth = depth;
        texts[next] = "";
      }
    },
    // Text of nested elements does not belong to the field.
    wantsText: () => field !== undefined && depth === fieldDepth,
    text(text) {
      if (field === undefined) return;
      const before = texts[field] ?? "";
      if (before.length < MAX_TEXT) texts[field] = before + text.slice(0, MAX_TEXT);
    },
    closed() {
      if (depth === fieldDepth) {
        // Back in the entry, whose own text may be its URL.
        field = field === "own" ? undefined : "own";
        fieldDepth = entryDepth;
      }
      if (depth === entryDepth) endEntry();
      depth -= 1;
    },
  };
  const scanner = new XmlScanner(events);

  return {
    problem: () => found,
    write(text) {
      if (found === undefined) scanner.write(text);
    },
    end() {
      if (found === undefined) scanner.end();
      if (found !== undefined) return { problem: found };
      return format === undefined ? { problem: "the XML has no root element" } : { kind: format.kind };
    },
  };
}

/** Namespace prefixes whose `loc` and `link` elements are not the page of the entry. */
const EXTENSIONS = new Set(["image", "video", "xhtml", "news", "media", "atom", "atom10"]);

function partsOf(name: string): { prefix: string; local: string } {
  const colon = name.indexOf(":");
  return colon < 0 ? { prefix: "", local: name } : { prefix: name.slice(0, colon), local: name.slice(colon + 1) };
}

/** The decoded value of an attribute; undefined if it is missing. `name` is in lower case. */
function attributeOf(attributes: string, name: string): string | undefined {
  for (const [, key = "", double, single, bare = ""] of attributes.matchAll(ATTRIBUTE)) {
    if (key.toLowerCase() === name) return decodeXML(double ?? single ?? bare);
  }
  return undefined;
}

const ATTRIBUTE = /([^\s=/>]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*))/g;

function isHttp(text: string | undefined): boolean {
  return text !== undefined && /^\s*https?:\/\//i.test(text);
}

function notASitemap(root: string): string {
  if (root === "html") return "the file is an HTML page, and is no sitemap";
  return `the root element is <${root.slice(0, 40)}>; a sitemap has <urlset>, <sitemapindex>, <rss>, <rdf> or <feed>`;
}
