/**
 * Computes the occurrences of a schedule from its timing alone, so every process computes the same occurrences.
 *
 * Daylight saving time: a cron with one fixed time of day (`30 2 * * *`) that falls into the skipped hour occurs at the
 * end of that hour. In the repeated hour it occurs once. A cron that repeats within a day (`0 * * * *`, or a minute or
 * hour with several values or a step) follows the wall clock: it does not occur in the skipped hour, and occurs twice
 * in the repeated one.
 */
import { Cron } from "croner";
import type { Timing } from "../domain/schedule.ts";
import { TrawlError } from "../errors.ts";

type Occurrences = {
  /** The first occurrence after an instant; undefined if there is none. */
  after(instant: number): number | undefined;
  /** The last `max` occurrences after `after` and up to `until`, in order. */
  within(after: number, until: number, max: number): number[];
};

/** The occurrences of a timing. Throws BAD_SCHEDULE if the timing is invalid. */
export function occurrencesOf(timing: Timing): Occurrences {
  return timing.kind === "cron" ? cronOccurrences(timing) : intervalOccurrences(timing);
}

function intervalOccurrences({ everyMs, anchorAt }: Extract<Timing, { kind: "every" }>): Occurrences {
  const countAt = (instant: number) => Math.max(0, Math.floor((instant - anchorAt) / everyMs));
  return {
    after: (instant) => anchorAt + (countAt(instant) + 1) * everyMs,
    within(after, until, max) {
      const last = countAt(until);
      const first = Math.max(countAt(after), last - max) + 1;
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => anchorAt + (first + n) * everyMs);
    },
  };
}

/** How far back the search for the latest occurrences starts. The span doubles until enough are found. */
const FIRST_SPAN_MS = 60_000;

function cronOccurrences({ cron, timeZone }: Extract<Timing, { kind: "cron" }>): Occurrences {
  const pattern = parseCron(cron, timeZone);
  const after = (instant: number) => pattern.nextRun(new Date(instant))?.getTime();

  function between(from: number, until: number): number[] {
    const found: number[] = [];
    for (let at = after(from); at !== undefined && at <= until; at = after(at)) found.push(at);
    return found;
  }

  return {
    after,
    within(from, until, max) {
      for (let spanMs = FIRST_SPAN_MS; ; spanMs *= 2) {
        const start = Math.max(from, until - spanMs);
        const found = between(start, until);
        if (found.length >= max || start === from) return found.slice(Math.max(0, found.length - max));
      }
    },
  };
}

function parseCron(cron: string, timeZone: string): Cron {
  if (!isTimeZone(timeZone)) {
    throw bad(`timeZone: ${JSON.stringify(timeZone)} does not exist; use a name such as UTC or Europe/Berlin`);
  }
  try {
    return new Cron(cron, { timezone: timeZone, mode: "5-or-6-parts", paused: true });
  } catch (cause) {
    const why = (cause as Error).message
      .replace(/^CronPattern: /, "")
      .replace(/^invalid configuration format.*/s, "a cron has five fields, or six with seconds first");
    throw bad(`cron: ${JSON.stringify(cron)} cannot be parsed (${why}); use a cron such as "0 6 * * 1-5"`, cause);
  }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }) !== undefined;
  } catch {
    return false;
  }
}

function bad(message: string, cause?: unknown): TrawlError {
  return new TrawlError("BAD_SCHEDULE", { op: "schedule.occurrencesOf", message, cause });
}
