import { describe, expect, it } from "vitest";
import { parseAccessLog } from "./access-log.mjs";
import { judgeGaps, judgeRequests, judgeShares, leastSeconds, shareOf } from "./judge-requests.mjs";

const SITES = ["127.0.1.1", "127.0.1.2"];
const PATHS = ["/", "/a.html"];

function aRequest(site, path, startedAt, { status = 200, method = "GET", tookMs = 1 } = {}) {
  return { site, path, startedAt, endedAt: startedAt + tookMs, status, method };
}

const COMPLETE = SITES.flatMap((site) => PATHS.map((path, nth) => aRequest(site, path, 1_000 + nth * 250)));

function gapsOf(times, options) {
  return judgeGaps(
    times.map((at) => aRequest(SITES[0], "/", at)),
    options,
  );
}

describe("the access log", () => {
  it("has the start, the end, the site, the status and the path of each request", () => {
    const text = "1700000000.250 0.003 127.0.1.7 200 GET /a b.html\n1700000000.300 0.000 127.0.1.8 404 HEAD /x\n";

    expect(parseAccessLog(text)).toEqual([
      {
        site: "127.0.1.7",
        startedAt: 1_700_000_000_247,
        endedAt: 1_700_000_000_250,
        status: 200,
        method: "GET",
        path: "/a b.html",
      },
      expect.objectContaining({ site: "127.0.1.8", startedAt: 1_700_000_000_300, status: 404, method: "HEAD" }),
    ]);
  });
});

describe("the judge of a crawl", () => {
  it("counts the pages of all sites, and measures from the first request to the last response", () => {
    expect(judgeRequests(COMPLETE, { sites: SITES, paths: PATHS })).toMatchObject({
      ...{ pages: 4, missed: 0, repeated: 0, others: [] },
      seconds: 0.251,
      pagesPerS: 4 / 0.251,
    });
  });

  it("finds pages that were missed or fetched twice, with examples", () => {
    const requests = [...COMPLETE.slice(0, 3), COMPLETE[0]];

    expect(judgeRequests(requests, { sites: SITES, paths: PATHS })).toMatchObject({
      ...{ pages: 3, missed: 1, missedExamples: ["127.0.1.2/a.html"] },
      ...{ repeated: 1, repeatedExamples: ["127.0.1.1/"] },
    });
  });

  it("does not count a response that is not a page, and lists other requests except for robots.txt", () => {
    const requests = [
      aRequest(SITES[0], "/", 0, { status: 500 }),
      aRequest(SITES[0], "/a.html", 0, { method: "HEAD" }),
      aRequest(SITES[0], "/ghost.html", 0, { status: 404 }),
      aRequest("127.0.9.9", "/", 0),
      aRequest(SITES[0], "/robots.txt", 0),
    ];

    expect(judgeRequests(requests, { sites: SITES, paths: PATHS })).toMatchObject({
      pages: 0,
      missed: 4,
      others: ["GET / 500 x1", "HEAD /a.html 200 x1", "GET /ghost.html 404 x1", "GET / 200 x1"],
    });
  });

  it("has no speed without requests", () => {
    expect(judgeRequests([], { sites: SITES, paths: PATHS })).toMatchObject({ pages: 0, seconds: 0, pagesPerS: 0 });
  });
});

describe("the judge of gaps", () => {
  it("counts gaps that are more than 1 ms shorter than the interval", () => {
    const judged = gapsOf([0, 250, 499, 747.9, 1_000], { intervalMs: 250, resolutionMs: 0 });

    expect(judged).toMatchObject({ gaps: 4, short: 1 });
    expect(judged.shortestMs).toBeCloseTo(248.9);
  });

  it("does not count a gap that may be long enough by the resolution of the clock", () => {
    expect(gapsOf([0, 248], { intervalMs: 250, resolutionMs: 1 })).toMatchObject({ short: 0 });
    expect(gapsOf([0, 247], { intervalMs: 250, resolutionMs: 1 })).toMatchObject({ short: 1 });
  });

  it("gives no result if the interval is not longer than the tolerance", () => {
    expect(gapsOf([0, 0.5], { intervalMs: 1, resolutionMs: 0 })).toBeUndefined();
    expect(gapsOf([0, 0.5], { intervalMs: 2, resolutionMs: 1 })).toBeUndefined();
  });

  it("compares only requests of the same site, in the order of their start", () => {
    const requests = [aRequest(SITES[0], "/", 500), aRequest(SITES[1], "/", 501), aRequest(SITES[0], "/", 250)];

    expect(judgeGaps(requests, { intervalMs: 250, resolutionMs: 0 })).toMatchObject({ gaps: 1, short: 0 });
  });
});

describe("what a crawl can reach", () => {
  it("takes the requests of the busiest site, each one interval after the one before", () => {
    const requests = [0, 1, 2, 3].map((at) => aRequest(SITES[0], "/", at)).concat(aRequest(SITES[1], "/", 0));

    expect(leastSeconds(requests, 250)).toBe(0.75);
  });

  it("is judged for each site from its first to its last request", () => {
    const at = (site, ...times) => times.map((startedAt) => ({ site, path: "/", startedAt }));
    const requests = [...at("a", 0, 250, 500), ...at("b", 1_000, 1_500), ...at("c", 7), ...at("d", 0, 250)];

    expect(judgeShares(requests, 250)).toEqual({ median: 1, worst: 0.5 });
    expect(judgeShares(at("c", 7), 250)).toBeUndefined();
  });

  it("is the lower of the allowance and the speed without a rate", () => {
    expect(shareOf({ pagesPerS: 500, allowancePerS: 1_000, unlimitedPerS: 800 })).toBe(0.625);
    expect(shareOf({ pagesPerS: 500, allowancePerS: 1_000, unlimitedPerS: 2_000 })).toBe(0.5);
    expect(shareOf({ pagesPerS: 500, allowancePerS: 1_000, unlimitedPerS: undefined })).toBe(0.5);
  });
});
