import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readDate } from "./read-date.ts";

describe("reading a date", () => {
  it.each([
    ["2024-03-05", "2024-03-05"],
    ["2024/3/5", "2024-03-05"],
    ["2024-03-05T10:00:00Z", "2024-03-05T10:00:00.000Z"],
    ["2024-03-05T10:00:00.123456+02:00", "2024-03-05T08:00:00.123Z"],
    ["2024-03-05T10:00", "2024-03-05T10:00:00"],
    ["2024-03-05 23:59:59", "2024-03-05T23:59:59"],
    ["5 March 2024", "2024-03-05"],
    ["Published on the 5th of Mar. 2024 by Ann", "2024-03-05"],
    ["March 5, 2024", "2024-03-05"],
    ["Sept 30, 2023 at 1:05 pm", "2023-09-30T13:05:00"],
    ["Mar 5, 2024 12:30 AM", "2024-03-05T00:30:00"],
    ["Tue, 05 Mar 2024 10:00:00 GMT", "2024-03-05T10:00:00.000Z"],
    ["Tue Mar 05 2024 10:00:00 GMT+0100 (CET)", "2024-03-05T09:00:00.000Z"],
    ["05.03.2024", "2024-03-05"],
    ["5. 3. 2024", "2024-03-05"],
    ["25/12/2024", "2024-12-25"],
    ["12/25/2024", "2024-12-25"],
    ["4/4/2024", "2024-04-04"],
    ["31-Dec-2023", "2023-12-31"],
    ["1709632800", "2024-03-05T10:00:00.000Z"],
    ["1709632800123", "2024-03-05T10:00:00.123Z"],
    ["2024-03-05T29:00", "2024-03-05"],
  ])("reads %j as %s", (text, date) => {
    expect(readDate(text)).toBe(date);
  });

  it.each(["", "soon", "3/5/2024", "2024-02-30", "2023-13-01", "foo 1", "31 April 2024", "12345"])(
    "finds no date in %j",
    (text) => {
      expect(readDate(text)).toBeNull();
    },
  );

  it("reads every date that toISOString or toUTCString formats", () => {
    const range = { min: new Date("0100-01-01"), max: new Date("9999-12-31"), noInvalidDate: true };
    fc.assert(
      fc.property(fc.date(range), (date) => {
        expect(readDate(date.toISOString())).toBe(date.toISOString());
        expect(readDate(date.toUTCString().slice(5))).toBe(date.toISOString().replace(/\.\d{3}Z$/, ".000Z"));
      }),
    );
  });
});
