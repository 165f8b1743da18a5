import { expect, it } from "vitest";
import { createCachedCount } from "./cached-count.ts";

it("keeps nobody waiting for a count that takes long, is made once at a time, and told as it was last known", async () => {
  const made: ((counted: number) => void)[] = [];
  const count = createCachedCount(() => new Promise((resolve) => void made.push(resolve)), 1);

  expect(await Promise.all([count(), count()])).toEqual([undefined, undefined]);
  expect(await count()).toBeUndefined();
  expect(made).toHaveLength(1);
  made[0]?.(7);
  expect(await count()).toBe(7);
  expect(made).toHaveLength(1); // it rests
});

it("says that nobody knows where it cannot be made", async () => {
  const count = createCachedCount(() => Promise.reject(new Error("it is away")), 1_000);
  expect(await count()).toBeUndefined();
});
