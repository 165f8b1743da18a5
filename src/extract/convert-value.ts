import type { Element } from "domhandler";
import { getInnerHTML } from "domutils";
import { parseGently } from "./gentle-json.ts";
import type { PageView } from "./page-view.ts";
import { readDate } from "./read-date.ts";
import { readInteger, readNumber } from "./read-number.ts";
import type { FieldType } from "./rules.ts";
import type { Found } from "./source.ts";
import { collapse, rawTextOf, textOf } from "./visible-text.ts";

/** What a value has to be. */
export type Wanted = { type: FieldType; match: RegExp | undefined };

/** A regular expression sees no more than this of a text, so that a slow one stays bearable. */
const MATCHED_CHARS = 100_000;

/** The value of what was found, in the type wanted; null if it has none. Never throws. */
export function convertFound(found: Found, { type, match }: Wanted, view: PageView): unknown {
  if ("value" in found && type === "json" && match === undefined) return found.value;
  const written = writtenValue(found, type);
  const text = match === undefined || written === undefined ? written : firstMatch(match, written);
  return text === undefined ? null : CONVERTERS[type](text, view);
}

/** What the page has written there; undefined if the attribute is missing or the value is an object. */
export function writtenValue(found: Found, type: FieldType): string | undefined {
  if ("value" in found) return typeof found.value === "object" ? undefined : String(found.value);
  const { element, attribute } = found;
  return attribute === undefined ? contentOf(element, type) : attributeOf(element, attribute);
}

const CONVERTERS: Record<FieldType, (text: string, view: PageView) => unknown> = {
  text: (text) => collapse(text) || null,
  number: readNumber,
  integer: readInteger,
  // That it is there means yes, unless it says no.
  boolean: (text) => !/^(?:no|false|0|off|none|n)$/i.test(text.trim()),
  url: (text, view) => (text.trim() === "" ? null : (view.absolute(text.trim()) ?? null)),
  date: (text) => readDate(collapse(text)),
  html: (text) => text.trim() || null,
  json: (text) => parseGently(text) ?? null,
};

function firstMatch(pattern: RegExp, text: string): string | undefined {
  const match = pattern.exec(text.slice(0, MATCHED_CHARS));
  return match === null ? undefined : (match[1] ?? match[0]);
}

/** Where each type looks first: a link's target, a time's machine form. A `<meta>` has nothing but its content. */
function contentOf(element: Element, type: FieldType): string {
  const { name } = element;
  const better = name === "meta" ? ["content"] : (TELLING_ATTRIBUTES[type] ?? []);
  for (const attribute of better) {
    const value = attributeOf(element, attribute);
    if (value !== undefined) return value;
  }
  if (type === "html") return getInnerHTML(element, { encodeEntities: "utf8" });
  return type === "json" ? rawTextOf(element) : textOf(element);
}

const TELLING_ATTRIBUTES: Partial<Record<FieldType, readonly string[]>> = {
  url: ["href", "src"],
  date: ["datetime"],
};

/** Own ones only: every object inherits a "constructor". */
function attributeOf({ attribs }: Element, name: string): string | undefined {
  return Object.hasOwn(attribs, name) ? attribs[name] : undefined;
}
