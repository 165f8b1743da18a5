import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Timing } from "../../src/domain/schedule.ts";
import { occurrencesOf } from "../../src/schedule/occurrences.ts";
import { occurrencesByWall } from "./oracle.ts";

const DAY = 86_400_000;
const EVERYTHING = 1_000_000;
const FALL_BERLIN = Date.UTC(2026, 9, 25, 1);
const SPRING_BERLIN = Date.UTC(2027, 2, 28, 1);
/** Clock changes by time zone; on Lord Howe Island the change is half an hour. */
const CHANGES = {
  "Europe/Berlin": [FALL_BERLIN, SPRING_BERLIN],
  "America/New_York": [Date.UTC(2026, 10, 1, 6), Date.UTC(2027, 2, 14, 7)],
  "America/St_Johns": [Date.UTC(2026, 10, 1, 4, 30), Date.UTC(2027, 2, 14, 5, 30)],
  "Australia/Lord_Howe": [Date.UTC(2026, 9, 3, 15, 30), Date.UTC(2027, 3, 3, 15)],
  "Asia/Kolkata": [FALL_BERLIN],
  UTC: [SPRING_BERLIN],
};

const berlin = (cron: string): Timing => ({ kind: "cron", cron, timeZone: "Europe/Berlin" });

describe("the occurrences of a schedule", () => {
  it.each([
    ["30 2 * * *", SPRING_BERLIN, ["2027-03-28T01:00", "2027-03-29T00:30"], "in the skipped hour: at its end"],
    ["*/30 2 * * *", SPRING_BERLIN, ["2027-03-29T00:00", "2027-03-29T00:30"], "repeating, in the skipped hour: never"],
    ["30 2 * * *", FALL_BERLIN, ["2026-10-25T00:30", "2026-10-26T01:30"], "in the repeated hour: the first time"],
    ["30 * * * *", FALL_BERLIN, ["2026-10-25T00:30", "2026-10-25T01:30"], "every hour: also in the repeated hour"],
  ])("of %s around a change of clocks: %j", (cron, change, expected) => {
    const found = occurrencesOf(berlin(cron)).within(change - 3_600_000 - 1, change + 2 * DAY, EVERYTHING);

    expect(found.slice(0, 2).map((at) => new Date(at).toISOString().slice(0, 16))).toEqual(expected);
  });

  it("match the wall clock around clock changes, from any start", () => {
    const range = (least: number, most: number) => fc.integer({ min: least, max: most }).map(String);
    const field = (least: number, most: number) =>
      fc.oneof(
        fc.constant("*"),
        range(least, most),
        fc.integer({ min: 2, max: 30 }).map((step) => `*/${Math.min(step, most)}`),
        fc.tuple(range(least, most), range(least, most)).map((both) => both.sort((a, b) => +a - +b).join("-")),
        fc.tuple(range(least, most), range(least, most)).map((both) => [...new Set(both)].join(",")),
      );
    const rare = (least: number, most: number) =>
      fc.oneof({ weight: 6, arbitrary: fc.constant("*") }, { weight: 1, arbitrary: field(least, most) });
    // Most hours are near a clock change.
    const hour = fc.oneof(field(0, 23), fc.constantFrom("1", "2", "3", "1-3", "2,3", "*/2"));
    const cron = fc.tuple(field(0, 59), hour, rare(1, 31), rare(1, 12), rare(0, 6)).map((fields) => fields.join(" "));
    const zone = fc.constantFrom(...(Object.keys(CHANGES) as (keyof typeof CHANGES)[]));

    fc.assert(
      fc.property(cron, zone, fc.nat({ max: 1 }), fc.nat({ max: DAY }), (text, timeZone, which, before) => {
        const change = CHANGES[timeZone][which] ?? CHANGES[timeZone][0] ?? 0;
        const [after, until] = [change - before, change + DAY];

        const found = occurrencesOf({ kind: "cron", cron: text, timeZone }).within(after, until, EVERYTHING);

        expect(found).toEqual(occurrencesByWall({ cron: text, timeZone }, after, until));
      }),
      { numRuns: 150 },
    );
  });

  it("of an interval are counted from its anchor, independent of clock changes", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: DAY }),
        fc.nat({ max: DAY }),
        fc.nat({ max: DAY }),
        (everyMs, from, span) => {
          const anchorAt = FALL_BERLIN - 12_345;
          const [after, until] = [anchorAt + from, anchorAt + from + span];
          const occurrences = occurrencesOf({ kind: "every", everyMs, anchorAt });
          const expected = occurrencesByWall({ everyMs, anchorAt }, after, until);

          expect(occurrences.within(after, until, EVERYTHING)).toEqual(expected);
          if (expected.length > 0) expect(occurrences.after(after)).toBe(expected[0]);
        },
      ),
    );
  });

  it.each([berlin("*/7 * * * *"), { kind: "every", everyMs: 60_000, anchorAt: 5 } satisfies Timing])(
    "are the latest ones if there are more than the limit: $kind",
    (timing) => {
      const all = occurrencesOf(timing).within(FALL_BERLIN - DAY, FALL_BERLIN, EVERYTHING);

      expect(occurrencesOf(timing).within(FALL_BERLIN - DAY, FALL_BERLIN, 10)).toEqual(all.slice(-10));
      expect(occurrencesOf(timing).within(FALL_BERLIN, FALL_BERLIN, 10)).toEqual([]);
    },
  );

  it.each([
    ["bad", "UTC", /cron: "bad" cannot be parsed/],
    ["61 * * * *", "UTC", /Invalid value for minute/],
    ["* * * * * * *", "UTC", /cron/],
    ["0 6 * * *", "Mars/Olympus", /timeZone: "Mars\/Olympus" does not exist; use a name such as/],
  ])("cannot be computed for %j in %s", (cron, timeZone, message) => {
    expect(() => occurrencesOf({ kind: "cron", cron, timeZone })).toThrowError(message);
  });
});
