/** Numbers as people read them. */

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const INSTANT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
/** Overrides alone: marks and embeddings belong to honest Hebrew and Arabic. */
const TURNING = /[\u202d\u202e]/g;

/** What is shown where something is not known. */
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

/** 12.3, or 0.05: three digits that mean something. */
export function decimal(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return UNKNOWN;
  if (Math.abs(value) >= 100) return WHOLE.format(value);
  return String(Number(value.toPrecision(3)));
}

/** 98.7 %, of a share between 0 and 1. Never 100 % of what is not all. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return UNKNOWN;
  const tenths = share > 0.5 ? Math.floor(share * 1000) : Math.ceil(share * 1000);
  return `${tenths / 10} %`;
}

/** 1 MB is 1,000,000 bytes, as the command line counts them. */
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
  if (ms < HOUR) return two(ms, MINUTE, "min", SECOND, "s");
  if (ms < DAY) return two(ms, HOUR, "h", MINUTE, "min");
  return two(ms, DAY, "d", HOUR, "h");
}

/** 5 s ago, in 3 min, now */
export function ago(at: number, now: number): string {
  const ms = Math.abs(now - at);
  if (ms < SECOND) return "now";
  const words = ms < MINUTE ? `${Math.round(ms / SECOND)} s` : coarse(ms);
  return at <= now ? `${words} ago` : `in ${words}`;
}

/** In this browser's zone, to the second. */
export function absolute(at: number): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

/** Instants as machines write them, as people read them. */
export function withTimes(words: string): string {
  return words.replace(INSTANT, (instant) => absolute(Date.parse(instant)));
}

/** What would turn the writing around it the other way is written out: a name cannot look like another. */
export function unturned(text: string): string {
  return text.replace(TURNING, (char) => `\\u${char.charCodeAt(0).toString(16)}`);
}

/** What is too long to be shown, cut where no character breaks in two. */
export function cut(text: string, most = 500): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** "1 page", "2 pages" */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

function coarse(ms: number): string {
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  return ms < DAY ? `${Math.floor(ms / HOUR)} h` : `${Math.floor(ms / DAY)} d`;
}

function two(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const whole = Math.floor(ms / large);
  const rest = Math.floor((ms - whole * large) / small);
  return rest === 0 ? `${whole} ${largeName}` : `${whole} ${largeName} ${rest} ${smallName}`;
}
