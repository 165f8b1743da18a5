import { expect, it } from "vitest";
import { createCachedCount } from "./cached-count.ts";

it("returns the last count if a new one takes too long, and runs one count at a time", async () => {
  const pending: ((counted: number) => void)[] = [];
  const count = createCachedCount(() => new Promise((resolve) => void pending.push(resolve)), 1);

  expect(await Promise.all([count(), count()])).toEqual([undefined, undefined]);
  expect(await count()).toBeUndefined();
  expect(pending).toHaveLength(1);
  pending[0]?.(7);
  expect(await count()).toBe(7);
  expect(pending).toHaveLength(1); // no new count during the pause
});

it("is undefined if the count fails", async () => {
  const count = createCachedCount(() => Promise.reject(new Error("unreachable")), 1_000);
  expect(await count()).toBeUndefined();
});
