import { describe, expect, it } from "vitest";
import { rankFunctions, rankParts } from "./cpu-profile.mjs";

function aNode(id, functionName, url, lineNumber) {
  return { id, callFrame: { functionName, url, lineNumber } };
}

const PROFILE = {
  nodes: [
    aNode(1, "(idle)", "", -1),
    aNode(2, "parse", "file:///a/parse.js", 9),
    aNode(3, "parse", "file:///a/parse.js", 9),
    aNode(4, "", "file:///a/other.js", 0),
  ],
  samples: [1, 2, 3, 4],
  timeDeltas: [90_000, 2_000, 1_000, 1_000],
};

describe("reading a CPU profile", () => {
  it("adds up the self time of a function over call sites and profiles, and excludes waiting from the shares", () => {
    expect(rankFunctions([PROFILE, PROFILE], (url) => url.slice(7))).toEqual([
      { label: "parse  /a/parse.js:10", selfMs: 6, share: 0.75 },
      { label: "(anonymous)  /a/other.js:1", selfMs: 2, share: 0.25 },
    ]);
  });

  it("adds up self time by part", () => {
    expect(rankParts([PROFILE], () => "ours")).toEqual([{ label: "ours", selfMs: 4, share: 1 }]);
  });
});
