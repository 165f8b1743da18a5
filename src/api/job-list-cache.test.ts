import { expect, it } from "vitest";
import type { Frontier } from "../frontier/frontier.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import { createJobListCache, withChangeListener } from "./job-list-cache.ts";

const OPTIONS = { maxAgeMs: 100, maxEntries: 2 };

it("reads a page once for all requests within maxAgeMs after the start of the read", async () => {
  const { clock, page, reads, reply } = aList();
  const [one, other] = [page("a"), page("a")];
  clock.at = 60; // the read took this long
  reply("first");

  expect([await one, await other]).toEqual(["first", "first"]);
  clock.at = 99;
  expect(await page("a")).toBe("first");
  clock.at = 100;
  void page("a");
  void page("b");
  expect(reads).toEqual(["a", "a", "b"]);
});

it("does not reuse a page that was read, or began to be read, before a change", async () => {
  const { cache, page, reads, reply } = aList();
  const running = page("a");
  cache.clear();
  const after = page("a");
  reply("before the change");
  reply("after the change");

  expect(await running).toBe("before the change");
  expect(await after).toBe("after the change");
  expect(await page("a")).toBe("after the change");
  cache.clear();
  void page("a");
  expect(reads).toHaveLength(3);
});

it("does not cache a failure, and keeps at most maxEntries pages", async () => {
  const { page, reads, reply, fail } = aList();
  const failed = page("a");
  fail();
  await expect(failed).rejects.toThrow("unreachable");
  const all = ["a", "b", "c"].map(page);
  for (const key of ["a", "b", "c"]) reply(key);
  await Promise.all(all);

  expect(await page("c")).toBe("c");
  expect(reads).toHaveLength(4);
  void page("a");
  expect(reads).toHaveLength(5);
});

it("reports a change after the call, also if the call failed", async () => {
  const events: string[] = [];
  const broker = {
    cancel: async () => void events.push("cancelled"),
    seal: async () => Promise.reject(new Error("unreachable")),
    findJob: async () => undefined,
  } as unknown as Frontier & FrontierAdmin;
  const frontier = withChangeListener(broker, () => events.push("change"));

  await frontier.cancel("job");
  await expect(frontier.seal("job")).rejects.toThrow("unreachable");
  await frontier.findJob("job");

  expect(events).toEqual(["cancelled", "change", "change"]);
});

/** A list whose replies the test controls, in the order of the reads. */
function aList() {
  const clock = { at: 0 };
  const reads: string[] = [];
  const open: { resolve(page: string): void; reject(error: Error): void }[] = [];
  const cache = createJobListCache({ now: () => clock.at }, OPTIONS);
  const read = (key: string): Promise<string> => {
    reads.push(key);
    return new Promise((resolve, reject) => open.push({ resolve, reject }));
  };
  return {
    clock,
    cache,
    reads,
    page: async (key: string) => JSON.parse(Buffer.from(await cache.page(key, () => read(key))).toString()) as string,
    reply: (page: string) => open.shift()?.resolve(page),
    fail: () => open.shift()?.reject(new Error("unreachable")),
  };
}
