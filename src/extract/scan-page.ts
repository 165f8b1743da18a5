/**
 * The hot path of a crawl without rules: title, metadata, text and links in one pass, without a tree. It uses
 * `onopentagname` and `onattribute` instead of `onopentag`, so that htmlparser2 creates no object per tag. That saves
 * more CPU time than the rest of this file takes.
 */
import { type Metadata, MetadataCollector } from "./metadata.ts";
import type { MarkupKind } from "./page-kind.ts";
import { type PageHandler, parseInto } from "./parse-html.ts";
import { BLOCK_TAGS, collapseRuns, cutText, HIDDEN_TAGS } from "./visible-text.ts";

type PageScan = {
  metadata: Metadata;
  /** Each `href` of an `<a>` as written, in order. */
  hrefs: readonly string[];
  /** Visible text, cut to `textChars`. */
  text: string;
};

type ScanOptions = {
  kind: MarkupKind;
  /** Maximum length of the text; 0 means that no text is collected. */
  textChars: number;
};

/** Reads a page in one pass. Never throws. */
export function scanPage(markup: string, { kind, textChars }: ScanOptions): PageScan {
  const scanner = new PageScanner(textChars);
  parseInto(scanner, markup, kind);
  return scanner.finish();
}

const OTHER = 0;
const BLOCK = 1;
const HIDDEN = 2;
const SVG = 3;
const TITLE = 4;
const ANCHOR = 5;
const META = 6;
const LINK = 7;
const BASE = 8;

const ROLES = new Map<string, number>([
  ...[...BLOCK_TAGS].map((name) => [name, BLOCK] as const),
  ...[...HIDDEN_TAGS].map((name) => [name, HIDDEN] as const),
  ["svg", SVG],
  ["title", TITLE],
  ["a", ANCHOR],
  ["meta", META],
  ["link", LINK],
  ["base", BASE],
]);

/** Text is buffered up to this much beyond the limit, so that white space is collapsed in few large steps. */
const SLACK_CHARS = 1_000;

class PageScanner implements PageHandler {
  readonly #metadata = new MetadataCollector();
  readonly #hrefs: string[] = [];
  readonly #textChars: number;
  #text = "";
  #isTextFull: boolean;
  #titleText: string | undefined;
  /** Number of open hidden elements, and of open SVG elements. */
  #hidden = 0;
  #svgs = 0;
  /** The current tag and its relevant attributes: `name` or `rel`, `property`, `content` or `href`. */
  #role = OTHER;
  #name: string | undefined;
  #property: string | undefined;
  #content: string | undefined;

  constructor(textChars: number) {
    this.#textChars = textChars;
    this.#isTextFull = textChars === 0;
  }

  onopentagname(tag: string): void {
    if (this.#role >= META) this.#settleTag();
    const role = ROLES.get(tag) ?? OTHER;
    this.#role = role;
    if (role === BLOCK) this.#separateText();
    else if (role >= HIDDEN && role <= TITLE) this.#enterHidden(role);
  }

  onattribute(name: string, value: string): void {
    if (this.#role < ANCHOR) return;
    if (this.#role !== ANCHOR) this.#keepAttribute(name, value);
    else if (name === "href") {
      this.#hrefs.push(value);
      this.#role = OTHER; // only the first of two hrefs counts
    }
  }

  ontext(text: string): void {
    if (this.#hidden === 0) this.#addText(text);
    else if (this.#titleText !== undefined) this.#titleText += text;
  }

  onclosetag(tag: string): void {
    if (this.#role >= META) this.#settleTag();
    const role = ROLES.get(tag);
    if (role === BLOCK) this.#separateText();
    else if (role !== undefined && role >= HIDDEN && role <= TITLE) this.#leaveHidden(role);
  }

  ontagcut(): void {
    if (this.#role >= META) this.#forgetTag();
  }

  finish(): PageScan {
    if (!this.#isTextFull) this.#collapseText();
    return { metadata: this.#metadata, hrefs: this.#hrefs, text: this.#text.trim() };
  }

  #enterHidden(role: number): void {
    this.#hidden++;
    if (role === SVG) this.#svgs++;
    if (role === TITLE && this.#svgs === 0) this.#titleText = "";
  }

  #leaveHidden(role: number): void {
    this.#hidden--;
    if (role === SVG) this.#svgs--;
    if (this.#titleText === undefined || role !== TITLE) return;
    this.#metadata.addTitle(this.#titleText);
    this.#titleText = undefined;
  }

  #keepAttribute(name: string, value: string): void {
    const isMeta = this.#role === META;
    if (name === (isMeta ? "content" : "href")) this.#content ??= value;
    else if (name === (isMeta ? "name" : "rel")) this.#name ??= value;
    else if (name === "property") this.#property ??= value;
  }

  /** A meta, link or base is complete when it closes (in HTML, at once) or when the next tag opens. */
  #settleTag(): void {
    if (this.#role === META) this.#metadata.addMeta(this.#name, this.#property, this.#content);
    else if (this.#role === LINK) this.#metadata.addLink(this.#name, this.#content);
    else this.#metadata.baseHref ??= this.#content;
    this.#forgetTag();
  }

  #forgetTag(): void {
    this.#name = this.#property = this.#content = undefined;
    this.#role = OTHER;
  }

  #separateText(): void {
    if (this.#hidden === 0) this.#addText(" ");
  }

  #addText(text: string): void {
    if (this.#isTextFull) return;
    this.#text += text;
    if (this.#text.length > this.#textChars + SLACK_CHARS) this.#collapseText();
  }

  #collapseText(): void {
    const text = collapseRuns(this.#text).trimStart();
    this.#isTextFull = text.length >= this.#textChars;
    this.#text = this.#isTextFull ? cutText(text, this.#textChars) : text;
  }
}
