/** Formats numbers, times and text for people. */

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const INSTANT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
/** Only the overrides: marks and embeddings occur in normal Hebrew and Arabic text. */
const BIDI_OVERRIDES = /[\u202d\u202e]/g;

/** Shown for unknown values. */
export const UNKNOWN = "–";

/** 1,234,567 */
export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : WHOLE.format(value);
}

/** 1.23M */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  return Math.abs(value) < 10_000 ? WHOLE.format(value) : SHORT.format(value);
}

/** 12.3 or 0.05: three significant digits. */
export function decimal(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return UNKNOWN;
  if (Math.abs(value) >= 100) return WHOLE.format(value);
  return String(Number(value.toPrecision(3)));
}

/** 98.7 %, from a share between 0 and 1. Never 100 % unless the share is 1. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return UNKNOWN;
  const tenths = share > 0.5 ? Math.floor(share * 1000) : Math.ceil(share * 1000);
  return `${tenths / 10} %`;
}

/** 1 MB is 1,000,000 bytes, as in the CLI. */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  let rest = value;
  let unit = 0;
  for (; rest >= 1000 && unit < UNITS.length - 1; unit += 1) rest /= 1000;
  return `${unit === 0 ? rest : decimal(rest)} ${UNITS[unit]}`;
}

/** 340 ms, 4.2 s, 3 min 20 s, 2 h 5 min, 3 d 4 h */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return UNKNOWN;
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${decimal(Math.round(ms / 100) / 10)} s`;
  if (ms < MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < HOUR) return twoUnits(ms, MINUTE, "min", SECOND, "s");
  if (ms < DAY) return twoUnits(ms, HOUR, "h", MINUTE, "min");
  return twoUnits(ms, DAY, "d", HOUR, "h");
}

/** 45 s, 10 min, 2 h: one unit, rounded up. For badges, which have little space. */
export function roundedUp(ms: number): string {
  const unit = ms < MINUTE ? SECOND : ms < HOUR ? MINUTE : HOUR;
  return duration(Math.ceil(ms / unit) * unit);
}

/** 5 s ago, in 3 min, now */
export function ago(at: number, now: number): string {
  const ms = Math.abs(now - at);
  if (ms < SECOND) return "now";
  const distance = ms < MINUTE ? `${Math.round(ms / SECOND)} s` : coarse(ms);
  return at <= now ? `${distance} ago` : `in ${distance}`;
}

/** In the time zone of the browser, to the second. */
export function absolute(at: number): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

/** Replaces ISO 8601 instants in a text by local times. */
export function localizeTimes(text: string): string {
  return text.replace(INSTANT, (instant) => absolute(Date.parse(instant)));
}

/** Escapes bidi overrides, which could make one name look like another. */
export function escapeBidi(text: string): string {
  return text.replace(BIDI_OVERRIDES, (char) => `\\u${char.charCodeAt(0).toString(16)}`);
}

/** Shortens a text to `max` UTF-16 units without splitting a character. */
export function cut(text: string, max = 500): string {
  if (text.length <= max) return text;
  return `${text.slice(0, max).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** "1 page", "2 pages" */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

function coarse(ms: number): string {
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  return ms < DAY ? `${Math.floor(ms / HOUR)} h` : `${Math.floor(ms / DAY)} d`;
}

function twoUnits(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const whole = Math.floor(ms / large);
  const rest = Math.floor((ms - whole * large) / small);
  return rest === 0 ? `${whole} ${largeName}` : `${whole} ${largeName} ${rest} ${smallName}`;
}
