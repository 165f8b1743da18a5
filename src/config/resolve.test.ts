import { describe, expect, it } from "vitest";
import { resolveConfig } from "./resolve.ts";

describe("pool solo", () => {
  it("runs one task at a time unless concurrency is set", () => {
    expect(resolveConfig([{ from: "flags", values: { pool: "solo" } }]).concurrency).toBe(1);
    expect(resolveConfig([{ from: "flags", values: { pool: "solo", concurrency: 8 } }]).concurrency).toBe(8);
    expect(resolveConfig([]).concurrency).toBe(100);
  });
});

describe("time limits", () => {
  const resolve = (values: Record<string, unknown>) => resolveConfig([{ from: "flags", values }]);

  it("are refused if the soft limit exceeds the hard one, and the message names both", () => {
    expect(() => resolve({ softTimeLimitMs: "2m", timeLimitMs: "1m" })).toThrow(
      /--soft-time-limit\) is 2m.*--time-limit\), which is 1m/,
    );
  });

  it("may be equal, and each is optional", () => {
    expect(resolve({ softTimeLimitMs: "1m", timeLimitMs: "1m" })).toMatchObject({ softTimeLimitMs: 60_000 });
    expect(resolve({ softTimeLimitMs: "1m" })).toMatchObject({ timeLimitMs: Number.POSITIVE_INFINITY });
    expect(resolve({ timeLimitMs: "1m" })).toMatchObject({ softTimeLimitMs: Number.POSITIVE_INFINITY });
  });
});
