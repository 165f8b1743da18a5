/** A site with very many URLs and a low rate does not delay another; scripts/noisy-neighbour.mjs measures it at length. */
import { beforeAll, describe, expect, it } from "vitest";
import { rateViolations } from "../site/politeness-checker.ts";
import { ensureDist, MAIN } from "./dist.ts";
import { newFolder } from "./folder.ts";
import { meet } from "./neighbours.ts";

beforeAll(ensureDist);

const SLOW_URLS = 50_000;
const SLOW_PER_SECOND = 5;
const QUICK_URLS = 100;
const JITTER_MS = 100;

describe("a noisy neighbour", () => {
  it("with 50,000 URLs queued first at 5/s is hardly begun when the other's 100 URLs are done", async () => {
    const both = { slowPerSecond: SLOW_PER_SECOND, quickUrls: QUICK_URLS, main: MAIN };
    const beside = await meet({ ...both, slowUrls: SLOW_URLS, folder: newFolder() });
    const alone = await meet({ ...both, slowUrls: 0, folder: newFolder() });
    console.log(
      `100 URLs: ${alone.quickMs.toFixed(0)} ms alone, ${beside.quickMs.toFixed(0)} ms beside 50,000 of a slow site, ` +
        `ratio ${(beside.quickMs / alone.quickMs).toFixed(2)}; the slow site was asked ${beside.slowTimes.length} times`,
    );

    expect([alone.quickRequests, beside.quickRequests]).toEqual([QUICK_URLS, QUICK_URLS]);
    expect(alone.slowTimes).toEqual([]);
    // In the order they were queued, the quick site's turn would come after 50,000 of the slow one's, in three hours.
    expect(beside.slowTimes.length).toBeLessThan(SLOW_URLS / 100);
    const limit = { perSecond: SLOW_PER_SECOND, burst: 1, toleranceMs: JITTER_MS };
    expect(rateViolations(beside.slowTimes, limit)).toEqual([]);
  });
});
