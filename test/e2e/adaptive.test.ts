/** Checks how a crawl treats sites in trouble, with the log of the site. scripts/adaptive.mjs measures the times. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Arrival, Origin } from "../site/origin.ts";
import { lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import type { Summary } from "./ledger.ts";
import { originOf, pagesRequested } from "./sites.ts";

/** Crawls `/0` to `/count - 1`. */
async function crawl(site: Origin, count: number, ...flags: string[]): Promise<Summary> {
  const cwd = newFolder();
  const urls = Array.from({ length: count }, (_, page) => `${site.url}/${page}`);
  writeFileSync(join(cwd, "urls.txt"), urls.join("\n"));
  const env = { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8" };
  const args = ["crawl", "urls.txt", "--follow", "none", "--ignore-robots", "--json", "--quiet", "--rate", "50/s"];
  const end = await trawl([...args, ...flags], { cwd, env });
  expect(end.code).toBe(0);
  return lastJson<Summary>(end);
}

describe("a site in trouble", () => {
  it.each([{ retryAfter: undefined }, { retryAfter: "1" }])(
    "20 broken pages of 100 do not keep the others from being fetched, Retry-After: $retryAfter",
    async ({ retryAfter }) => {
      const isBroken = (path: string) => Number(path.slice(1)) % 5 === 3;
      const site = await originOf(({ url = "" }, response) => {
        const headers = retryAfter === undefined ? undefined : { "retry-after": retryAfter };
        if (isBroken(url)) response.writeHead(503, headers).end();
        else response.writeHead(200, { "content-type": "text/html" }).end("<h1>page</h1>");
      });

      const { counts } = await crawl(site, 100);

      expect(counts).toMatchObject({ done: 80, dead: 20 });
      for (let page = 0; page < 100; page++) {
        const tries = site.log.filter(({ path }) => path === `/${page}`);
        expect(tries).toHaveLength(isBroken(`/${page}`) ? 5 : 1);
        expect(shortestPauseMs(tries)).toBeGreaterThanOrEqual(1000);
      }
    },
  );

  it("that is down gets no request for its Retry-After, then one at a time until it answers", async () => {
    let downUntil = 0;
    let good = 0;
    const site = await originOf((_, response) => {
      if (good === 20 && downUntil === 0) downUntil = Date.now() + 5000;
      const isDown = Date.now() < downUntil;
      if (!isDown) good += 1;
      setTimeout(() => {
        if (isDown) response.writeHead(503, { "retry-after": "2" }).end();
        else response.writeHead(200, { "content-type": "text/html" }).end("<h1>page</h1>");
      }, 30);
    });

    const { counts } = await crawl(site, 60);

    expect(counts).toMatchObject({ done: 60, dead: 0 });
    const [first, ...rest] = site.log.filter(({ status }) => status === 503) as [Arrival, ...Arrival[]];
    // Requests that were under way when the first 503 arrived.
    const underWay = site.log.filter(({ arrivedAt }) => arrivedAt > first.arrivedAt && arrivedAt < endOf(first) + 1000);
    expect(underWay.length).toBeLessThan(4);
    const probes = rest.filter((arrival) => !underWay.includes(arrival));
    expect(probes.length).toBeGreaterThan(0);
    for (const probe of [underWay.at(-1) ?? first, ...probes]) {
      const next = site.log.find(({ arrivedAt }) => arrivedAt > probe.arrivedAt);
      expect((next?.arrivedAt ?? 0) - endOf(probe)).toBeGreaterThanOrEqual(2000 - EARLY_MS);
    }
    expect(new Set(pagesRequested(site)).size).toBe(60);
  });
});

/** The clocks of the log and of timers differ by up to this time. */
const EARLY_MS = 5;

function endOf({ endedAt = 0 }: Arrival): number {
  return endedAt;
}

/** From the end of one try to the arrival of the next. */
function shortestPauseMs(log: readonly Arrival[]): number {
  return Math.min(...log.slice(1).map(({ arrivedAt }, nth) => arrivedAt - endOf(log[nth] as Arrival) + EARLY_MS));
}
