/**
 * Truncates the result of a preview. Rules may produce far more text than the page has, e.g. nested elements that each
 * repeat the text of their descendants. The limits bound the memory and the response of the server.
 */
import type { Fields } from "../domain/page.ts";
import type { Extraction } from "./extractor.ts";

/** The first records and links, and their total numbers. Truncated texts end with "…". */
export type ExtractionPreview = Extraction & { recordCount: number; invalidCount: number; linkCount: number };

const MAX_RECORDS = 50;
const MAX_LINKS = 200;
/** Maximum characters of one text, and of all texts together. */
const MAX_TEXT = 10_000;
const MAX_TEXTS = 500_000;
const MAX_DEPTH = 30;
/** Characters that each value counts for, in addition to its text. */
const VALUE_CHARS = 8;

export function truncatePreview({ records, invalid, links }: Extraction): ExtractionPreview {
  const { cutText, cutValue, cutList } = createCutter(MAX_TEXTS);
  const cutFields = (fields: Fields) => cutValue(fields, 0) as Fields;
  return {
    links: cutList(links.slice(0, MAX_LINKS), cutText),
    records: cutList(records.slice(0, MAX_RECORDS), cutFields),
    invalid: cutList(invalid.slice(0, MAX_RECORDS), ({ fields, reason }) => ({
      fields: cutFields(fields),
      reason: cutText(reason),
    })),
    ...{ recordCount: records.length, invalidCount: invalid.length, linkCount: links.length },
  };
}

function createCutter(maxChars: number) {
  let left = maxChars;

  function cutText(text: string): string {
    const max = Math.max(0, Math.min(MAX_TEXT, left));
    left -= Math.min(text.length, max) + VALUE_CHARS;
    return text.length <= max ? text : `${text.slice(0, max)}…`;
  }

  function cutValue(value: unknown, depth: number): unknown {
    if (typeof value === "string") return cutText(value);
    left -= VALUE_CHARS;
    if (typeof value !== "object" || value === null) return value;
    if (depth >= MAX_DEPTH) return "…";
    if (Array.isArray(value)) return cutList(value, (one) => cutValue(one, depth + 1));
    return Object.fromEntries(
      cutList(Object.entries(value), ([name, one]) => [cutText(name), cutValue(one, depth + 1)] as const),
    );
  }

  /** Truncates values until the limit is used up; the others are left out. */
  function cutList<T, U>(values: readonly T[], cut: (value: T) => U): U[] {
    const kept: U[] = [];
    for (const value of values) {
      if (left <= 0) break;
      kept.push(cut(value));
    }
    return kept;
  }

  return { cutText, cutValue, cutList };
}
