/**
 * Computes expected occurrences the slow way: for every second it checks whether the cron matches the wall clock. It
 * shares no code with src/schedule or its cron library.
 */

export type Written = { cron: string; timeZone: string } | { everyMs: number; anchorAt: number };

/** Occurrences after `after` and up to `until`, in order. */
export function occurrencesByWall(written: Written, after: number, until: number): number[] {
  if ("everyMs" in written) return intervalOccurrences(written, after, until);
  const fields = written.cron.split(" ");
  const hasSeconds = fields.length === 6;
  const matches = matcherOf(hasSeconds ? fields : ["0", ...fields]);
  const isFixed = fields.slice(0, hasSeconds ? 3 : 2).every(hasOneValue);
  const stepMs = hasSeconds ? 1_000 : 60_000;
  const wallOf = wallClock(written.timeZone);
  const found: number[] = [];
  for (let at = (Math.floor(after / stepMs) + 1) * stepMs; at <= until; at += stepMs) {
    const wall = wallOf(at);
    const gap = wall - wallOf(at - stepMs) - stepMs;
    if (matches(wall)) {
      if (!isFixed || !isSecondTime(wallOf, at, wall)) found.push(at);
    } else if (isFixed && gap > 0 && isWithin(matches, wall - gap, wall, stepMs)) found.push(at);
  }
  return found;
}

/** `2` and `2-2` have one value. A step repeats, even if only one of its values is in range. */
function hasOneValue(field: string): boolean {
  return /^[\d,-]+$/.test(field) && valuesOf(field, 0, 59).size === 1;
}

function intervalOccurrences(
  { everyMs, anchorAt }: { everyMs: number; anchorAt: number },
  after: number,
  until: number,
) {
  const found: number[] = [];
  for (let at = anchorAt + everyMs; at <= until; at += everyMs) if (at > after) found.push(at);
  return found;
}

/** Whether this wall clock time occurs for the second time, after clocks went back. */
function isSecondTime(wallOf: (at: number) => number, at: number, wall: number): boolean {
  return [30, 60, 120].some((minutes) => wallOf(at - minutes * 60_000) === wall);
}

function isWithin(matches: (wall: number) => boolean, from: number, until: number, stepMs: number): boolean {
  for (let wall = from; wall < until; wall += stepMs) if (matches(wall)) return true;
  return false;
}

/** The wall clock time, as if it were UTC. */
function wallClock(timeZone: string): (at: number) => number {
  const known = new Map<number, number>();
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    ...{ year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" },
  });
  return (at) => {
    // Clocks change on quarters of an hour only.
    const quarter = Math.floor(at / 900_000) * 900_000;
    let offset = known.get(quarter);
    if (offset === undefined) {
      const part = Object.fromEntries(format.formatToParts(quarter).map(({ type, value }) => [type, Number(value)]));
      const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = part;
      offset = Date.UTC(year, month - 1, day, hour, minute, second) - quarter;
      known.set(quarter, offset);
    }
    return at + offset;
  };
}

function matcherOf(fields: readonly string[]): (wall: number) => boolean {
  const ranges = [
    [0, 59],
    [0, 59],
    [0, 23],
    [1, 31],
    [1, 12],
    [0, 7],
  ] as const;
  const [seconds, minutes, hours, days, months, weekdays] = ranges.map(([least, max], index) =>
    valuesOf(fields[index] ?? "*", least, max),
  ) as [Set<number>, Set<number>, Set<number>, Set<number>, Set<number>, Set<number>];
  if (weekdays.has(7)) weekdays.add(0);
  const [isAnyDay, isAnyWeekday] = [fields[3] === "*", fields[5] === "*"];
  return (wall) => {
    const date = new Date(wall);
    const [isDay, isWeekday] = [days.has(date.getUTCDate()), weekdays.has(date.getUTCDay())];
    // If both are given, one match is enough.
    const isDate = isAnyDay || isAnyWeekday ? isDay && isWeekday : isDay || isWeekday;
    return (
      isDate &&
      months.has(date.getUTCMonth() + 1) &&
      hours.has(date.getUTCHours()) &&
      minutes.has(date.getUTCMinutes()) &&
      seconds.has(date.getUTCSeconds())
    );
  };
}

function valuesOf(field: string, least: number, max: number): Set<number> {
  const values = new Set<number>();
  for (const part of field.split(",")) {
    const [range = "", step = "1"] = part.split("/");
    const [from = least, to = part.includes("/") ? max : from] =
      range === "*" ? [least, max] : range.split("-").map(Number);
    for (let value = from; value <= to; value += Number(step)) values.add(value);
  }
  return values;
}
