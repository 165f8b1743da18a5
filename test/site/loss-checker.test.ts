import { describe, expect, it } from "vitest";
import { duplicates, missing } from "./loss-checker.ts";

describe("loss checker", () => {
  it("counts values that occur more than once", () => {
    expect(duplicates(["a", "b", "a", "c", "a", "b"])).toEqual(
      new Map([
        ["a", 3],
        ["b", 2],
      ]),
    );
    expect(duplicates(["a", "b"])).toEqual(new Map());
  });

  it("returns missing values, each once, in the expected order", () => {
    expect(missing(["c", "a", "b", "a"], ["b", "x"])).toEqual(["c", "a"]);
    expect(missing([], ["x"])).toEqual([]);
  });
});
