import { expect, it } from "vitest";
import { filterOf, letterWords, replayWords } from "./which.ts";

it("takes from an address what names dead letters, and nothing else", () => {
  expect(filterOf({ job: "j1", reason: "http_status", site: "a.example", status: "404" })).toEqual({
    ...{ job: "j1", reason: "http_status", site: "a.example", status: 404 },
  });
  expect(filterOf({ reason: "toString", status: "4040", site: "", q: "x" })).toEqual({});
});

it("says what a replay will do, and how long that takes", () => {
  const words = letterWords(1_240, { site: "shop.example", status: 503 });

  expect(replayWords(words, 1_240, 10)).toBe(
    "Replays 1,240 letters of shop.example with status 503, 10 a second: the last is due in about 2 min 3 s.",
  );
  expect(replayWords("1 letter", 1, 10)).toBe("Replays 1 letter, 10 a second: all are due at once.");
});
