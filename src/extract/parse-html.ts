import { type Document, DomHandler } from "domhandler";
import { type Handler, Parser, type ParserOptions } from "htmlparser2";
import type { MarkupKind } from "./page-kind.ts";

/**
 * Elements nested deeper than this become siblings at this depth, as in browsers. The limit keeps parsing time linear:
 * htmlparser2 searches its stack at each closing tag, and 200,000 open tags with as many unmatched closing tags took 46
 * s. It also lets recursive code, in Trawl or in a library, walk any page without overflowing the stack.
 */
export const DEEPEST_NESTING = 512;

/** Passes the whole page to `handler`, in one pass and linear time. */
export function parseInto(handler: Partial<Handler>, markup: string, kind: MarkupKind): void {
  const parser = new ShallowParser(handler, PARSER_OPTIONS[kind]);
  parser.write(markup);
  parser.end();
}

/** The page as a tree that is never deeper than `DEEPEST_NESTING`. Tag and attribute names are in lower case. */
export function parseDocument(markup: string, kind: MarkupKind): Document {
  const handler = new DomHandler();
  parseInto(handler, markup, kind);
  return handler.root;
}

const PARSER_OPTIONS: Record<MarkupKind, ParserOptions> = {
  html: {},
  xhtml: { recognizeSelfClosing: true, recognizeCDATA: true },
  // Lower case also for XML, so that selectors compiled for HTML match feeds and sitemaps.
  xml: { xmlMode: true, lowerCaseTags: true, lowerCaseAttributeNames: true },
};

/** Elements whose content is not markup. They cannot nest, and their content must not become text of the page. */
const RAW_TEXT = new Set(["script", "style", "title", "textarea", "xmp"]);

/**
 * A parser that limits the depth. It is a class because htmlparser2 lets subclasses override `isVoidElement`: an
 * element that is too deep is treated as one without content. It reads three private fields of the parser; the tests of
 * deep pages cover them.
 */
class ShallowParser extends Parser {
  /** Whether the tag being opened is too deep. */
  #isTooDeep = false;
  /** The number of flattened elements that are still open: their closing tags must not close an ancestor. */
  #flattened = 0;

  override isVoidElement(name: string): boolean {
    return super.isVoidElement(name) || (this.#isTooDeep && !RAW_TEXT.has(name));
  }

  override onopentagname(start: number, endIndex: number): void {
    const { stack, foreignContext } = internalsOf(this);
    this.#isTooDeep = stack.length >= DEEPEST_NESTING - 1;
    // `foreignContext` grows by one with every <svg> that is closed by the closing tag of its parent.
    if (foreignContext.length > DEEPEST_NESTING) foreignContext.length = DEEPEST_NESTING;
    super.onopentagname(start, endIndex);
    if (this.#isTooDeep && this.#isFlattened(internalsOf(this).tagname)) this.#flattened++;
  }

  override onopentagend(endIndex: number): void {
    super.onopentagend(endIndex);
    this.#isTooDeep = false;
  }

  override onselfclosingtag(endIndex: number): void {
    if (!this.#isTooDeep) {
      super.onselfclosingtag(endIndex);
      return;
    }
    if (this.#isFlattened(internalsOf(this).tagname)) this.#flattened--;
    this.onopentagend(endIndex);
  }

  override onclosetag(start: number, endIndex: number): void {
    if (this.#flattened > 0 && this.#isFlattened(internalsOf(this).getSlice(start, endIndex).toLowerCase())) {
      this.#flattened--;
      return;
    }
    super.onclosetag(start, endIndex);
  }

  #isFlattened(name: string): boolean {
    return !super.isVoidElement(name) && !RAW_TEXT.has(name);
  }
}

type Internals = {
  stack: string[];
  foreignContext: boolean[];
  tagname: string;
  getSlice(start: number, end: number): string;
};

function internalsOf(parser: Parser): Internals {
  return parser as unknown as Internals;
}
