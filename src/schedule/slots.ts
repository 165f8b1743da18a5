/**
 * When a schedule's slots are. Pure: the same timing has the same slots, whoever computes them and from wherever.
 *
 * Where clocks go forward, a cron of one fixed time of day (`30 2 * * *`) that would fall into the gap comes at its end; where
 * they go back, it comes the first time only. One that repeats within the day (`0 * * * *`, a minute or hour that is a list, range or
 * step) goes by the clock on the wall: what is not there does not come, and what is there twice comes twice.
 */
import { Cron } from "croner";
import type { Timing } from "../domain/schedule.ts";
import { TrawlError } from "../errors.ts";

export type Slots = {
  /** The first slot after an instant; undefined where none is to come. */
  after(instant: number): number | undefined;
  /** Slots after the one and up to the other, in order; of more than `most` the latest. */
  within(after: number, until: number, most: number): number[];
};

/** Throws BAD_SCHEDULE naming what is wrong with it. */
export function slotsOf(timing: Timing): Slots {
  return timing.kind === "cron" ? cronSlots(timing) : everySlots(timing);
}

function everySlots({ everyMs, anchorAt }: Extract<Timing, { kind: "every" }>): Slots {
  const countAt = (instant: number) => Math.max(0, Math.floor((instant - anchorAt) / everyMs));
  return {
    after: (instant) => anchorAt + (countAt(instant) + 1) * everyMs,
    within(after, until, most) {
      const last = countAt(until);
      const first = Math.max(countAt(after), last - most) + 1;
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => anchorAt + (first + n) * everyMs);
    },
  };
}

/** How far back the latest slots are looked for at first; twice as far each time, until there are enough. */
const FIRST_SPAN_MS = 60_000;

function cronSlots({ cron, timeZone }: Extract<Timing, { kind: "cron" }>): Slots {
  const pattern = parseCron(cron, timeZone);
  const after = (instant: number) => pattern.nextRun(new Date(instant))?.getTime();

  function between(from: number, until: number): number[] {
    const found: number[] = [];
    for (let at = after(from); at !== undefined && at <= until; at = after(at)) found.push(at);
    return found;
  }

  return {
    after,
    within(from, until, most) {
      for (let spanMs = FIRST_SPAN_MS; ; spanMs *= 2) {
        const start = Math.max(from, until - spanMs);
        const found = between(start, until);
        if (found.length >= most || start === from) return found.slice(Math.max(0, found.length - most));
      }
    },
  };
}

function parseCron(cron: string, timeZone: string): Cron {
  if (!isTimeZone(timeZone)) {
    throw bad(`timeZone: there is no ${JSON.stringify(timeZone)}; take one such as UTC or Europe/Berlin`);
  }
  try {
    return new Cron(cron, { timezone: timeZone, mode: "5-or-6-parts", paused: true });
  } catch (cause) {
    const why = (cause as Error).message
      .replace(/^CronPattern: /, "")
      .replace(/^invalid configuration format.*/s, "it takes five parts, or six with seconds first");
    throw bad(`cron: ${JSON.stringify(cron)} cannot be read (${why}); take one such as "0 6 * * 1-5"`, cause);
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
  return new TrawlError("BAD_SCHEDULE", { op: "schedule.slotsOf", message, cause });
}
