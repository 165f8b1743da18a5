import { describe, expect, it } from "vitest";
import { fitLines, linesOfPairs, pairsIn, pairsProblem } from "./pairs.ts";

describe("names with values as lines", () => {
  it("are read and written back without a change", () => {
    const pairs = { csrf: "input[name=csrf]@value", "login:user": "env:SHOP_USER", remember: "", note: "a: b" };

    expect(pairsIn(linesOfPairs(pairs))).toEqual(pairs);
    expect(fitLines(pairs)).toBe(true);
    expect(pairsIn("\n x-key:env:KEY \n\n accept:  text/html\n")).toEqual({
      "x-key": "env:KEY",
      accept: "text/html",
    });
    expect(fitLines({})).toBe(true);
  });

  it("keep a line that has no colon yet as a name, and name the line", () => {
    expect(pairsIn("user: a\npass")).toEqual({ user: "a", pass: "" });
    expect(pairsProblem("user: a\npass")).toContain("no colon: pass");
    expect(pairsProblem("user: a\nuser: b")).toContain("the name user");
    expect(pairsProblem("user: a\n\npass: b\n")).toBeUndefined();
  });

  it.each([{ key: "two\nlines" }, { key: " spaces " }, { key: 1 }, { "a: b": "c" }])(
    "cannot contain these values, which stay JSON: %j",
    (pairs) => {
      expect(fitLines(pairs)).toBe(false);
    },
  );
});
