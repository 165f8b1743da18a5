/** Dates as sitemaps and feeds write them. A date without a time is a range: `2024-05` is the whole month. */
import { parseDurationMs } from "./duration.ts";

/** Epoch ms. `until` is the last instant of the range. */
export type DateRange = { from: number; until: number };

/** Longer texts are no dates. */
const MAX_LENGTH = 64;
const W3C = /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?)?)?)?$/i;
const HAS_ZONE = /(?:Z|[A-Z]{1,5}|[+-]\d{4})$/i;
const RFC_822 = /^(?:[a-z]{3,9},?\s+)?\d{1,2}\s+[a-z]{3,9}\.?\s+\d{2,4}(?:\s+\d{1,2}:\d\d(?::\d\d)?(?:\s+\S+)?)?$/i;

/**
 * Parses a W3C date (`2024`, `2024-05-01`, `2024-05-01T10:00:00+02:00`), as in sitemaps and Atom, or an RFC 822 date, as
 * in RSS. A time without a zone is UTC. Undefined for other texts.
 */
export function parseDateRange(text: string): DateRange | undefined {
  const date = text.trim();
  if (date.length > MAX_LENGTH) return undefined;
  const parts = W3C.exec(date);
  if (parts !== null) return w3cRange(parts);
  if (!RFC_822.test(date)) return undefined;
  const at = Date.parse(HAS_ZONE.test(date) ? date : `${date} GMT`);
  return Number.isNaN(at) ? undefined : { from: at, until: at };
}

/**
 * The start of a period that the user gave as a date, or as a duration before `now` (`7d`). Undefined if it is neither.
 */
export function parseSince(text: string, now: number): number | undefined {
  const range = parseDateRange(text);
  if (range !== undefined) return range.from;
  const agoMs = /^\d+$/.test(text.trim()) ? undefined : parseDurationMs(text);
  return agoMs === undefined ? undefined : now - agoMs;
}

function w3cRange(parts: RegExpExecArray): DateRange | undefined {
  const [, year = "", month, day, hour, minute, second = "0", zone = "Z"] = parts;
  const [y, m, d] = [Number(year), Number(month ?? 1) - 1, Number(day ?? 1)];
  const from = Date.UTC(y, m, d, Number(hour ?? 0), Number(minute ?? 0), Number(second));
  // Date.UTC accepts 2024-02-31 as a day of March.
  const isValid = new Date(Date.UTC(y, m, d)).getUTCMonth() === m && Number(hour ?? 0) < 25 && m >= 0;
  if (!isValid) return undefined;
  if (hour !== undefined) {
    const at = from - offsetMs(zone);
    return { from: at, until: at };
  }
  const next =
    day !== undefined ? Date.UTC(y, m, d + 1) : month !== undefined ? Date.UTC(y, m + 1) : Date.UTC(y + 1, 0);
  return { from, until: next - 1 };
}

function offsetMs(zone: string): number {
  if (zone.toUpperCase() === "Z") return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
