import { describe, expect, it } from "vitest";
import { createRulesCache } from "./rules-cache.ts";

describe("the rules cache", () => {
  it("drops the least recently used entry", () => {
    const cache = createRulesCache<number>({ maxEntries: 2, maxWeight: 100 });
    cache.keep("a", 1, 1);
    cache.keep("b", 2, 1);
    cache.find("a");
    cache.keep("c", 3, 1);
    expect([cache.find("a"), cache.find("b"), cache.find("c")]).toEqual([1, undefined, 3]);
  });

  it("drops as many entries as a heavy entry needs, and the entry itself if it exceeds the limit", () => {
    const cache = createRulesCache<number>({ maxEntries: 10, maxWeight: 100 });
    for (const key of ["a", "b", "c"]) cache.keep(key, 1, 30);
    cache.keep("heavy", 2, 70);
    expect(["a", "b", "c", "heavy"].map(cache.find)).toEqual([undefined, undefined, 1, 2]);
    cache.keep("too heavy", 3, 101);
    expect(["c", "heavy", "too heavy"].map(cache.find)).toEqual([undefined, undefined, undefined]);
  });

  it("counts a replaced entry once", () => {
    const cache = createRulesCache<number>({ maxEntries: 2, maxWeight: 100 });
    for (let n = 0; n < 10; n++) cache.keep("a", n, 60);
    cache.keep("b", 1, 40);
    expect([cache.find("a"), cache.find("b")]).toEqual([9, 1]);
  });
});
