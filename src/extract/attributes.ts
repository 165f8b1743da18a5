import { decodeHTMLAttribute } from "entities/decode";
import type { Role } from "./tags.ts";

/**
 * Reads the attributes of a tag. It keeps only those that a scan needs, and finds the end of the tag. If an attribute
 * is repeated, the first one counts.
 */
export class AttributeReader {
  /** The `href` of an a, link or base, or the `content` of a meta. */
  content: string | undefined;
  /** The `name` of a meta, or the `rel` of a link. Also the `rel` of an a, if `readsRel`. */
  name: string | undefined;
  property: string | undefined;
  /** The `http-equiv` of a meta. */
  equiv: string | undefined;
  /** Whether the tag ends with `/>`. */
  isSelfClosed = false;
  readonly #readsRel: boolean;

  /** `readsRel`: whether the `rel` of an a is read. */
  constructor({ readsRel }: { readsRel: boolean }) {
    this.#readsRel = readsRel;
  }

  /** Returns the index after the tag, or -1 if the markup ends inside it. `at`: the index after the tag's name. */
  read(markup: string, at: number, role: Role): number {
    this.content = this.name = this.property = this.equiv = undefined;
    this.isSelfClosed = false;
    const isKept = role === "a" || role === "meta" || role === "link" || role === "base";
    let index = at;
    while (index < markup.length) {
      const char = markup.charCodeAt(index);
      if (char === GREATER) return index + 1;
      if (char === SLASH) {
        index = skipSpace(markup, index + 1);
        this.isSelfClosed = markup.charCodeAt(index) === GREATER;
      } else if (isSpace(char)) index += 1;
      else index = this.#readOne(markup, index, isKept ? role : undefined);
      if (index === -1) return -1;
    }
    return -1;
  }

  /** Reads one attribute, and returns the index after it. */
  #readOne(markup: string, start: number, role: Role | undefined): number {
    const nameEnd = endOfName(markup, start);
    const valueAt = startOfValue(markup, nameEnd);
    if (valueAt === -1) {
      if (role !== undefined) this.#keep(markup, { role, start, nameEnd, valueStart: 0, valueEnd: 0 });
      return nameEnd;
    }
    const quote = markup.charCodeAt(valueAt);
    const isQuoted = quote === DOUBLE_QUOTE || quote === SINGLE_QUOTE;
    const valueStart = isQuoted ? valueAt + 1 : valueAt;
    const valueEnd = isQuoted
      ? markup.indexOf(quote === DOUBLE_QUOTE ? '"' : "'", valueStart)
      : endOfBareValue(markup, valueStart);
    if (valueEnd === -1) return -1;
    if (role !== undefined) this.#keep(markup, { role, start, nameEnd, valueStart, valueEnd });
    return isQuoted ? valueEnd + 1 : valueEnd;
  }

  #keep(markup: string, { role, start, nameEnd, valueStart, valueEnd }: Written): void {
    const length = nameEnd - start;
    const isMeta = role === "meta";
    if (length < 3 || (length > 8 && !(isMeta && length === EQUIV.length))) return;
    const name = markup.slice(start, nameEnd).toLowerCase();
    if (name === (isMeta ? "content" : "href")) this.content ??= decodeValue(markup, valueStart, valueEnd);
    else if (role === "a" && !this.#readsRel) return;
    else if (name === (isMeta ? "name" : "rel")) this.name ??= decodeValue(markup, valueStart, valueEnd);
    else if (isMeta && name === EQUIV) this.equiv ??= decodeValue(markup, valueStart, valueEnd);
    else if (name === "property") this.property ??= decodeValue(markup, valueStart, valueEnd);
  }
}

type Written = { role: Role; start: number; nameEnd: number; valueStart: number; valueEnd: number };

const EQUIV = "http-equiv";
const SLASH = 0x2f;
const EQUALS = 0x3d;
const GREATER = 0x3e;
const DOUBLE_QUOTE = 0x22;
const SINGLE_QUOTE = 0x27;

/** White space in the sense of HTML. */
export function isSpace(char: number): boolean {
  return char === 0x20 || char === 0x0a || char === 0x09 || char === 0x0c || char === 0x0d;
}

export function skipSpace(markup: string, at: number): number {
  let index = at;
  while (isSpace(markup.charCodeAt(index))) index += 1;
  return index;
}

/** The index after the name. The first character is always part of the name, even if it is `=` or a quote. */
function endOfName(markup: string, start: number): number {
  let index = start + 1;
  for (; index < markup.length; index += 1) {
    const char = markup.charCodeAt(index);
    if (char === EQUALS || char === SLASH || char === GREATER || isSpace(char)) return index;
  }
  return index;
}

/** The index of the value; -1 if the attribute has no value. */
function startOfValue(markup: string, nameEnd: number): number {
  const index = skipSpace(markup, nameEnd);
  return markup.charCodeAt(index) === EQUALS ? skipSpace(markup, index + 1) : -1;
}

function endOfBareValue(markup: string, start: number): number {
  for (let index = start; index < markup.length; index += 1) {
    const char = markup.charCodeAt(index);
    if (char === GREATER || isSpace(char)) return index;
  }
  return -1;
}

/** The character after the value is passed to the decoder too, since it decides whether an entity has ended. */
function decodeValue(markup: string, start: number, end: number): string {
  const value = markup.slice(start, end);
  return value.includes("&") ? decodeHTMLAttribute(markup.slice(start, end + 1)).slice(0, -1) : value;
}
