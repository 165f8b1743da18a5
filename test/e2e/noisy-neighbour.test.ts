/** A site with very many URLs and a low rate does not delay another. scripts/noisy-neighbour.mjs measures by how much. */
import { describe, expect, it } from "vitest";
import { rateExcessMs, SUSPENDED_MS } from "../chaos/lookout.ts";
import { MAIN } from "./dist.ts";
import { newFolder } from "./folder.ts";
import { meet } from "./neighbours.ts";

const SLOW_URLS = 50_000;
const SLOW_PER_SECOND = 5;
const QUICK_URLS = 100;

describe("a noisy neighbour", () => {
  it("with 50,000 URLs queued first at 5/s has hardly started when the 100 URLs of the other are done", async () => {
    const both = { slowPerSecond: SLOW_PER_SECOND, quickUrls: QUICK_URLS, main: MAIN };
    const beside = await meet({ ...both, slowUrls: SLOW_URLS, folder: newFolder() });
    const alone = await meet({ ...both, slowUrls: 0, folder: newFolder() });
    console.log(
      `100 URLs: ${alone.quickMs.toFixed(0)} ms alone, ${beside.quickMs.toFixed(0)} ms beside 50,000 of a slow site, ` +
        `ratio ${(beside.quickMs / alone.quickMs).toFixed(2)}; the slow site got ${beside.slowRequests.length} requests`,
    );

    expect([alone.quickRequests, beside.quickRequests]).toEqual([QUICK_URLS, QUICK_URLS]);
    expect(alone.slowRequests).toEqual([]);
    // In the order of the queue, the quick site would wait for 50,000 requests to the slow one: three hours.
    expect(beside.slowRequests.length).toBeLessThan(SLOW_URLS / 100);
    expect(rateExcessMs(beside.slowRequests, SLOW_PER_SECOND)).toBeLessThan(SUSPENDED_MS);
  });
});
