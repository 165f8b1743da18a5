import type { Element } from "domhandler";
import { getInnerHTML } from "domutils";
import type { FieldType } from "../domain/extraction-rules.ts";
import { parseLenientJson } from "./lenient-json.ts";
import type { PageView } from "./page-view.ts";
import { readDate } from "./read-date.ts";
import { readInteger, readNumber } from "./read-number.ts";
import type { Found } from "./source.ts";
import { collapse, collapseLines, linesOf, rawTextOf, textOf } from "./visible-text.ts";

/** The type of the value, and the pattern that is applied before the conversion. */
export type Conversion = { type: FieldType; match: RegExp | undefined };

/** Maximum input of a regular expression. Bounds the time of slow patterns. */
const MATCHED_CHARS = 100_000;

/** Converts a match to the type; null if that is not possible. Never throws. */
export function convertFound(found: Found, { type, match }: Conversion, view: PageView): unknown {
  if ("value" in found && type === "json" && match === undefined) return found.value;
  const written = writtenValue(found, type);
  const text = match === undefined || written === undefined ? written : firstMatch(match, written);
  return text === undefined ? null : CONVERTERS[type](text, view);
}

/** The text of a match before conversion; undefined if the attribute is missing or the value is an object. */
export function writtenValue(found: Found, type: FieldType): string | undefined {
  if ("value" in found) return typeof found.value === "object" ? undefined : String(found.value);
  const { element, attribute } = found;
  return attribute === undefined ? contentOf(element, type) : attributeOf(element, attribute);
}

const CONVERTERS: Record<FieldType, (text: string, view: PageView) => unknown> = {
  text: (text) => collapse(text) || null,
  multiline: (text) => collapseLines(text) || null,
  number: readNumber,
  integer: readInteger,
  // An existing element is true, unless its text is a negation.
  boolean: (text) => !/^(?:no|false|0|off|none|n)$/i.test(text.trim()),
  url: (text, view) => (text.trim() === "" ? null : (view.absolute(text.trim()) ?? null)),
  date: (text) => readDate(collapse(text)),
  html: (text) => text.trim() || null,
  json: (text) => parseLenientJson(text) ?? null,
};

function firstMatch(pattern: RegExp, text: string): string | undefined {
  const match = pattern.exec(text.slice(0, MATCHED_CHARS));
  return match === null ? undefined : (match[1] ?? match[0]);
}

/**
 * The text or attribute to convert. Some types prefer an attribute: the target of a link, the machine-readable form of
 * a time. A `<meta>` has only `content`.
 */
function contentOf(element: Element, type: FieldType): string {
  const { name } = element;
  const preferred = name === "meta" ? ["content"] : (VALUE_ATTRIBUTES[type] ?? []);
  for (const attribute of preferred) {
    const value = attributeOf(element, attribute);
    if (value !== undefined) return value;
  }
  if (type === "html") return getInnerHTML(element, { encodeEntities: "utf8" });
  if (type === "multiline") return linesOf(element);
  return type === "json" ? rawTextOf(element) : textOf(element);
}

const VALUE_ATTRIBUTES: Partial<Record<FieldType, readonly string[]>> = {
  url: ["href", "src"],
  date: ["datetime"],
};

/** The value of an attribute. Only own properties are read, because every object inherits `constructor`. */
function attributeOf({ attribs }: Element, name: string): string | undefined {
  return Object.hasOwn(attribs, name) ? attribs[name] : undefined;
}
