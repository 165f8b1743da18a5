import { describe, expect, it } from "vitest";
import { LONGEST_RETRY_AFTER_MS, retryAfterMs } from "./retry-after.ts";

const NOW = Date.UTC(2025, 0, 1, 12, 0, 0);

describe("retryAfterMs", () => {
  it.each([
    ["0", 0],
    ["7", 7_000],
    [" 120 ", 120_000],
    ["Wed, 01 Jan 2025 12:00:30 GMT", 30_000],
    ["Wednesday, 01-Jan-25 12:00:30 GMT", 30_000],
    ["Wed Jan  1 12:00:30 2025 GMT", 30_000],
  ])("reads %j", (header, expected) => {
    expect(retryAfterMs(header, NOW)).toBe(expected);
  });

  it("treats a date in the past as now", () => {
    expect(retryAfterMs("Tue, 31 Dec 2024 12:00:00 GMT", NOW)).toBe(0);
  });

  it.each(["999999999999999999999", "7200", "Thu, 01 Jan 2026 12:00:00 GMT"])("caps %j at one hour", (header) => {
    expect(retryAfterMs(header, NOW)).toBe(LONGEST_RETRY_AFTER_MS);
  });

  it.each([undefined, "", "soon", "-5", "1.5", "5s", "2025-01-01", "Wed, 99 Foo 2025", "0x10", "120, 120"])(
    "ignores %j",
    (header) => {
      expect(retryAfterMs(header, NOW)).toBeUndefined();
    },
  );
});
