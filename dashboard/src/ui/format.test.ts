import { expect, it } from "vitest";
import {
  absolute,
  ago,
  bytes,
  count,
  cut,
  decimal,
  duration,
  escapeBidi,
  localizeTimes,
  percent,
  plural,
  roundedUp,
  short,
} from "./format.ts";
import { webUrl } from "./scraped.tsx";

it("formats numbers for people", () => {
  expect([0, 1234567].map(count)).toEqual(["0", "1,234,567"]);
  expect([9_999, 12_345, 1_234_567, null].map(short)).toEqual(["9,999", "12.3K", "1.23M", "–"]);
  expect([0, 0.0512, 3.1378, 123.4, Number.NaN].map(decimal)).toEqual(["0", "0.0512", "3.14", "123", "–"]);
  expect([0, 512, 1536, 5_000_000].map(bytes)).toEqual(["0 B", "512 B", "1.54 KB", "5 MB"]);
  expect([plural(1, "page"), plural(2000, "page")]).toEqual(["1 page", "2,000 pages"]);
});

it("never rounds a share to 100 % or 0 % unless it is exactly that", () => {
  expect([1, 0.99999, 0.0001, 0].map(percent)).toEqual(["100 %", "99.9 %", "0.1 %", "0 %"]);
});

it("formats durations and times relative to now", () => {
  const times = [340, 4_200, 59_000, 200_000, 7_500_000, 273_600_000];
  expect(times.map(duration)).toEqual(["340 ms", "4.2 s", "59 s", "3 min 20 s", "2 h 5 min", "3 d 4 h"]);
  expect([4_200, 59_900, 562_000, 7_500_000].map(roundedUp)).toEqual(["5 s", "1 min", "10 min", "3 h"]);
  expect([ago(0, 500), ago(0, 5_000), ago(180_000, 0), ago(0, 90_000_000)]).toEqual([
    ...["now", "5 s ago", "in 3 min", "1 d ago"],
  ]);
});

it("shortens long text without splitting a character", () => {
  expect(cut("short")).toBe("short");
  expect(cut("abcdef", 3)).toBe("abc…");
  expect(cut("ab\u{1F41F}cd", 3)).toBe("ab…");
});

it("shows ISO instants as local time and escapes bidi overrides", () => {
  const text = localizeTimes("in backoff until 2026-11-16T16:22:05.123Z (in 3s)");
  expect(text).toBe(`in backoff until ${absolute(Date.parse("2026-11-16T16:22:05Z"))} (in 3s)`);
  expect(escapeBidi("invoice\u202egpj.exe")).toBe("invoice\\u202egpj.exe");
});

it("links to http and https URLs only", () => {
  expect(webUrl("https://a.example/x y")).toBe("https://a.example/x%20y");
  for (const url of ["javascript:alert(1)", " JaVaScRiPt:alert(1)", "data:text/html,x", "//a.example", "file:///x", ""])
    expect(webUrl(url)).toBeUndefined();
});
