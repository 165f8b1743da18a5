/**
 * Converts dates in common notations to ISO 8601. The precision is kept: a day stays a day (2024-03-05), a time without
 * a zone stays without one (2024-03-05T10:00:00), a time with a zone is converted to UTC (2024-03-05T09:00:00.000Z).
 */

/** The first date in a text, or null. Ambiguous dates such as 3/5/2024 are null. */
export function readDate(text: string): string | null {
  const start = text.slice(0, SEARCHED_CHARS).trim();
  const stamp = EPOCH.exec(start);
  if (stamp !== null) return new Date(Number(start) * (stamp[1] === undefined ? 1 : 1000)).toISOString();
  for (const { pattern, order } of DAY_FORMS) {
    const match = pattern.exec(start);
    const day = match === null ? undefined : order(match.slice(1).map((part) => part ?? ""));
    if (match !== null && day !== undefined && isRealDay(day)) {
      return withTime(day, start.slice(match.index + match[0].length));
    }
  }
  return null;
}

type Day = { year: number; month: number; day: number };

const SEARCHED_CHARS = 500;
/** Seconds (10 digits, group 1) or milliseconds (13) since 1970: from 2001 to 2286. */
const EPOCH = /^(?:([1-9]\d{9})|[1-9]\d{12})$/;

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const MONTH =
  "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|" +
  "nov(?:ember)?|dec(?:ember)?)\\.?";

const DAY_FORMS: readonly { pattern: RegExp; order(parts: readonly string[]): Day | undefined }[] = [
  // 2024-03-05, 2024/3/5
  { pattern: /(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)/, order: ([y, m, d]) => numbered(y, m, d) },
  // 5 March 2024, 5th of Mar. 2024
  {
    pattern: new RegExp(`(?<!\\d)(\\d{1,2})(?:st|nd|rd|th|\\.)?[ -](?:of )?${MONTH},?[ -](\\d{4})(?!\\d)`, "i"),
    order: ([d, m, y]) => numbered(y, monthNumber(m), d),
  },
  // March 5, 2024
  {
    pattern: new RegExp(`\\b${MONTH} (\\d{1,2})(?:st|nd|rd|th)?,? (\\d{4})(?!\\d)`, "i"),
    order: ([m, d, y]) => numbered(y, monthNumber(m), d),
  },
  // 05.03.2024: with dots, the day always comes first
  { pattern: /(?<!\d)(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})(?!\d)/, order: ([d, m, y]) => numbered(y, m, d) },
  // 25/12/2024 or 12/25/2024
  { pattern: /(?<!\d)(\d{1,2})[/-](\d{1,2})[/-](\d{4})(?!\d)/, order: ([a, b, y]) => unambiguous(a, b, y) },
];

function numbered(year: string | undefined, month: string | undefined, day: string | undefined): Day {
  return { year: Number(year), month: Number(month), day: Number(day) };
}

function monthNumber(name: string | undefined): string {
  return String(MONTHS.indexOf(name?.slice(0, 3).toLowerCase() ?? "") + 1);
}

function unambiguous(a: string | undefined, b: string | undefined, year: string | undefined): Day | undefined {
  if (Number(a) > 12 || a === b) return numbered(year, b, a);
  return Number(b) > 12 ? numbered(year, a, b) : undefined;
}

function isRealDay({ year, month, day }: Day): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** Hours, minutes, seconds, fraction, am/pm, zone; directly after the date, optionally after "at". */
const TIME =
  /^(?:T|,? (?:at )?)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?: ?([ap])\.?m\b\.?)?(?: ?(Z\b|(?:UTC|GMT)?[+-]\d{2}:?\d{2}|UTC\b|GMT\b))?/i;

function withTime({ year, month, day }: Day, rest: string): string {
  const days = [String(year).padStart(4, "0"), two(month), two(day)].join("-");
  const match = TIME.exec(rest);
  if (match === null) return days;
  const [, hourText, minutes, seconds, fraction, half, zone] = match;
  const hour = hourOf(Number(hourText), half?.toLowerCase());
  if (hour === undefined || Number(minutes) > 59 || Number(seconds ?? 0) > 59) return days;
  const time = `${days}T${two(hour)}:${minutes}:${seconds ?? "00"}`;
  if (zone === undefined) return time;
  const instant = Date.parse(`${time}.${(fraction ?? "").padEnd(3, "0").slice(0, 3)}Z`) - offsetMs(zone);
  return new Date(instant).toISOString();
}

function hourOf(hour: number, half: string | undefined): number | undefined {
  if (half === undefined) return hour < 24 ? hour : undefined;
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (half === "p" ? 12 : 0);
}

function offsetMs(zone: string): number {
  const match = /([+-])(\d{2}):?(\d{2})/.exec(zone);
  if (match === null) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3]);
  return (match[1] === "-" ? -minutes : minutes) * 60_000;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
