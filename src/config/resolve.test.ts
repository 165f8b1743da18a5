import { describe, expect, it } from "vitest";
import { resolveConfig } from "./resolve.ts";

describe("a pool of none but this process", () => {
  it("has one task at a time, unless somebody chose how many", () => {
    expect(resolveConfig([{ from: "flags", values: { pool: "solo" } }]).concurrency).toBe(1);
    expect(resolveConfig([{ from: "flags", values: { pool: "solo", concurrency: 8 } }]).concurrency).toBe(8);
    expect(resolveConfig([]).concurrency).toBe(32);
  });
});

describe("time limits", () => {
  const resolve = (values: Record<string, unknown>) => resolveConfig([{ from: "flags", values }]);

  it("are refused where the soft one is longer than the hard one, with both named", () => {
    expect(() => resolve({ softTimeLimitMs: "2m", timeLimitMs: "1m" })).toThrow(
      /--soft-time-limit\) is 2m.*--time-limit\), which is 1m/,
    );
  });

  it("may be equal, and either may be left out", () => {
    expect(resolve({ softTimeLimitMs: "1m", timeLimitMs: "1m" })).toMatchObject({ softTimeLimitMs: 60_000 });
    expect(resolve({ softTimeLimitMs: "1m" })).toMatchObject({ timeLimitMs: Number.POSITIVE_INFINITY });
    expect(resolve({ timeLimitMs: "1m" })).toMatchObject({ softTimeLimitMs: Number.POSITIVE_INFINITY });
  });
});
