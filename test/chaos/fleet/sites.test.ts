import { describe, expect, it } from "vitest";
import { planFleetKills } from "./kill-schedule.ts";
import { DISALLOWED_PREFIX, expectedLedger, expectedPages, htmlOf, jobOf, numberOf, planWeb } from "./sites.ts";

const OPTIONS = { sites: 20, pages: 1_503, seconds: 20, sitePrefix: "127.77", port: 8000, seed: 7 };

describe("the web of a fleet", () => {
  it("has the requested number of pages, each reachable from a submitted URL", () => {
    const web = planWeb(OPTIONS);
    const { urls } = jobOf(web, 7) as { urls: string[] };
    const seen = new Set(urls);
    const refused: string[] = [];
    let duplicates = 0;
    for (const url of seen) {
      const { host, pathname } = new URL(url);
      const index = web.findIndex(({ site }) => site === host);
      const number = numberOf(pathname, web[index] ?? { pages: 0 });
      for (const [, link = ""] of htmlOf(web, index, number ?? -1).matchAll(/href="([^"]*)"/g)) {
        if (link.includes(DISALLOWED_PREFIX)) refused.push(link);
        else if (seen.has(link)) duplicates += 1;
        else seen.add(link);
      }
    }

    expect(expectedPages(web).size).toBe(1_503);
    expect([...seen].sort()).toEqual([...expectedPages(web).keys()].sort());
    expect(expectedLedger(web)).toMatchObject({
      submitted: urls.length,
      discovered: seen.size - urls.length + duplicates + refused.length,
      done: 1_503,
      duplicate: duplicates,
      refused: refused.length,
    });
    expect(new Set(urls).size).toBe(urls.length);
  });

  it("gives the slowest sites a rate at which they take about the requested time", () => {
    for (const { kind, pages, perSecond } of planWeb(OPTIONS)) {
      if (kind === "slow") expect(pages / perSecond).toBeCloseTo(20, 0);
    }
  });
});

describe("the planned kills of a fleet", () => {
  it("are the same for the same seed, spread over the crawl, and as many as requested", () => {
    const options = { seed: 3, kills: 300, brokerKills: 10, workers: 8, visits: 50_000 };
    const kills = planFleetKills(options);

    expect(planFleetKills(options)).toEqual(kills);
    expect(kills.filter(({ kind }) => kind === "worker")).toHaveLength(300);
    expect(kills.filter(({ kind }) => kind === "broker")).toHaveLength(10);
    expect(kills.map(({ afterVisits }) => afterVisits)).toEqual(
      kills.map(({ afterVisits }) => afterVisits).toSorted((one, other) => one - other),
    );
    expect(new Set(kills.map((kill) => (kill.kind === "worker" ? kill.slot : 0))).size).toBe(8);
    expect(kills.every(({ afterVisits }) => afterVisits < 50_000)).toBe(true);
  });
});
