import { describe, expect, it } from "vitest";
import { resolveConfig } from "./resolve.ts";

describe("a pool of none but this process", () => {
  it("has one task at a time, unless somebody chose how many", () => {
    expect(resolveConfig([{ from: "flags", values: { pool: "solo" } }]).concurrency).toBe(1);
    expect(resolveConfig([{ from: "flags", values: { pool: "solo", concurrency: 8 } }]).concurrency).toBe(8);
    expect(resolveConfig([]).concurrency).toBe(32);
  });
});
