/**
 * What a person who tries rules is shown of a page: enough to see whether they are right. Rules may make far more of a page
 * than it has itself (elements in elements, each with the text of all), which neither the server nor its answer has to hold.
 */
import type { Fields } from "../domain/page.ts";
import type { Extraction } from "./extractor.ts";

/** The first of each, and how many there were. Texts that are cut end with "…". */
export type CutReading = Extraction & { recordCount: number; invalidCount: number; linkCount: number };

const RECORDS_MOST = 50;
const LINKS_MOST = 200;
/** Characters of one text, and of all of them together. */
const TEXT_MOST = 10_000;
const TEXTS_MOST = 500_000;
const DEPTH_MOST = 30;
/** What a value weighs, however short. */
const VALUE_CHARS = 8;

export function cutReading({ records, invalid, links }: Extraction): CutReading {
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

  /** Those that there is room for. */
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
