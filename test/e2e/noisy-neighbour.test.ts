/**
 * A site with very many URLs and a low rate does not delay another site. scripts/noisy-neighbour.mjs measures the
 * delay.
 */
import { describe, expect, it } from "vitest";
import { rateExcessMs, SUSPENDED_MS } from "../chaos/rate-excess.ts";
import { MAIN } from "./dist.ts";
import { newFolder } from "./folder.ts";
import { crawlTwoSites } from "./neighbours.ts";

const SLOW_URLS = 50_000;
const SLOW_PER_SECOND = 5;
const QUICK_URLS = 100;

describe("a noisy neighbour", () => {
  it("with 50,000 URLs at 5/s, queued first, has hardly started when 100 URLs of another site are done", async () => {
    const both = { slowPerSecond: SLOW_PER_SECOND, quickUrls: QUICK_URLS, main: MAIN };
    const together = await crawlTwoSites({ ...both, slowUrls: SLOW_URLS, folder: newFolder() });
    const alone = await crawlTwoSites({ ...both, slowUrls: 0, folder: newFolder() });
    console.log(
      `100 URLs: ${alone.quickMs.toFixed(0)} ms alone, ${together.quickMs.toFixed(0)} ms with 50,000 URLs of a slow site, ` +
        `ratio ${(together.quickMs / alone.quickMs).toFixed(2)}; the slow site got ${together.slowRequests.length} requests`,
    );

    expect([alone.quickRequests, together.quickRequests]).toEqual([QUICK_URLS, QUICK_URLS]);
    expect(alone.slowRequests).toEqual([]);
    // In queue order, the quick site would have to wait for 50,000 requests to the slow site, which take three hours.
    expect(together.slowRequests.length).toBeLessThan(SLOW_URLS / 100);
    expect(rateExcessMs(together.slowRequests, SLOW_PER_SECOND)).toBeLessThan(SUSPENDED_MS);
  });
});
