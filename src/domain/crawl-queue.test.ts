import { expect, it } from "vitest";
import { crawlOfQueue, crawlQueue } from "./crawl-queue.ts";

it("finds the crawl of a queue, but none for a queue that a user has named", () => {
  expect(crawlOfQueue(crawlQueue("jmwiapq7ve90649"))).toBe("jmwiapq7ve90649");
  for (const queue of ["fetch", "crawl:jobs", "crawl:nightly-run", "my-crawl:jmwiapq7ve90649"]) {
    expect(crawlOfQueue(queue)).toBeUndefined();
  }
});
