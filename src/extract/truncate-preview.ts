/**
 * Truncates the result of a preview. Rules may produce far more text than the page has, e.g. nested elements that each
 * repeat the text of their descendants. The limits bound the memory and the response of the server.
 */
import type { Fields } from "../domain/page.ts";
import type { Extraction } from "./extractor.ts";

/** The first records and links, and their total numbers. Truncated texts end with "…". */
export type ExtractionPreview = Extraction & { recordCount: number; invalidCount: number; linkCount: number };

const RECORDS_MOST = 50;
const LINKS_MOST = 200;
/** Maximum characters of one text, and of all texts together. */
const TEXT_MOST = 10_000;
const TEXTS_MOST = 500_000;
const DEPTH_MOST = 30;
/** Characters that each value counts for, in addition to its text. */
const VALUE_CHARS = 8;

export function truncatePreview({ records, invalid, links }: Extraction): ExtractionPreview {
  const { cutText, cutValue, some } = createCutter(TEXTS_MOST);
  const cutFields = (fields: Fields) => cutValue(fields, 0) as Fields;
  return {
    links: some(links.slice(0, LINKS_MOST), cutText),
    records: some(records.slice(0, RECORDS_MOST), cutFields),
    invalid: some(invalid.slice(0, RECORDS_MOST), ({ fields, reason }) => ({
      fields: cutFields(fields),
      reason: cutText(reason),
    })),
    ...{ recordCount: records.length, invalidCount: invalid.length, linkCount: links.length },
  };
}

function createCutter(charsMost: number) {
  let left = charsMost;

  function cutText(text: string): string {
    const most = Math.max(0, Math.min(TEXT_MOST, left));
    left -= Math.min(text.length, most) + VALUE_CHARS;
    return text.length <= most ? text : `${text.slice(0, most)}…`;
  }

  function cutValue(value: unknown, depth: number): unknown {
    if (typeof value === "string") return cutText(value);
    left -= VALUE_CHARS;
    if (typeof value !== "object" || value === null) return value;
    if (depth >= DEPTH_MOST) return "…";
    if (Array.isArray(value)) return some(value, (one) => cutValue(one, depth + 1));
    return Object.fromEntries(
      some(Object.entries(value), ([name, one]) => [cutText(name), cutValue(one, depth + 1)] as const),
    );
  }

  /** Truncates values until the limit is used up; the others are left out. */
  function some<T, U>(values: readonly T[], cut: (value: T) => U): U[] {
    const kept: U[] = [];
    for (const value of values) {
      if (left <= 0) break;
      kept.push(cut(value));
    }
    return kept;
  }

  return { cutText, cutValue, some };
}
