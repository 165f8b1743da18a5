import { describe, expect, it } from "vitest";
import { createLinkedSite, LINKED_SITE } from "../site/linked-site.ts";
import { type Evidence, judgeRound, type LoggedRequest } from "./judge-round.ts";

const SITE = { ...LINKED_SITE, pages: 50 };
const URL = "http://site.test";
const PATHS = createLinkedSite(SITE).expectedPaths();

function seen(path: string, arrivedAt: number, arrivedAfter = arrivedAt): LoggedRequest {
  const request = { id: 0, method: "GET", headers: {}, status: 200, socket: 1 };
  return { ...request, path, arrivedAt, arrivedAfter, endedAt: arrivedAt + 4 };
}

/** A correct round: robots.txt, then a page every 5 ms. */
function correctRound(): Evidence {
  const counts = { submitted: 1, discovered: 60, queued: 0, delayed: 0, leased: 0, done: 50, dead: 0, cancelled: 0 };
  return {
    site: SITE,
    siteUrl: URL,
    limits: { perSecond: 200, perSite: 2 },
    kills: 1,
    log: ["/robots.txt", ...PATHS].map((path, index) => seen(path, index * 5)),
    records: PATHS.map((path) => URL + path),
    summary: { state: "finished", pages: 50, records: 50, counts: { ...counts, duplicate: 10, refused: 1 } },
  };
}

function problemsOf(change: (evidence: Evidence) => Partial<Evidence>): string[] {
  const evidence = correctRound();
  return judgeRound({ ...evidence, ...change(evidence) }).problems;
}

describe("the judge of a round", () => {
  it("finds no problem in a correct round", () => {
    expect(judgeRound(correctRound())).toEqual({
      problems: [],
      requests: 51,
      repeated: 0,
      loggedExcessMs: 0,
      excessMs: 0,
      maxAtOnce: 1,
    });
  });

  it("detects a lost page, a duplicate record, and a record of an unknown page", () => {
    expect(problemsOf(({ records }) => ({ records: records.slice(1) }))).toEqual([
      expect.stringContaining("1 pages are not"),
    ]);
    expect(problemsOf(({ records }) => ({ records: [...records, `${URL}/`] }))).toEqual([
      expect.stringContaining("more than once"),
    ]);
    expect(problemsOf(({ records }) => ({ records: [...records, `${URL}/x`] }))).toEqual([
      expect.stringContaining("records of unknown pages"),
    ]);
  });

  it("detects wrong counts, and counts that do not balance", () => {
    const withCounts = (more: Record<string, number>) =>
      problemsOf(({ summary }) => ({ summary: { ...summary, counts: { ...summary.counts, ...more } } }));

    expect(withCounts({ done: 49, dead: 1 })).toEqual([expect.stringContaining('"dead":1')]);
    expect(withCounts({ refused: 2 })).toEqual([expect.stringContaining("does not balance")]);
  });

  it("detects disallowed pages, too many concurrent requests, and more repeats than the kills explain", () => {
    const withMore = (...requests: LoggedRequest[]) => problemsOf(({ log }) => ({ log: [...log, ...requests] }));
    const again = PATHS.slice(0, 3).map((path, index) => seen(path, 1000 + index * 5));

    expect(withMore(seen("/private/0", 1000))).toEqual(["1 requests that robots.txt disallows"]);
    expect(withMore(...again.slice(0, 2))).toEqual([]);
    expect(withMore(...again)).toEqual([expect.stringContaining("3 requests were repeated; 1 kills allow 2")]);
    const long = ["/x", "/y", "/z"].map((path, index) => ({ ...seen(path, 1000 + index * 5), endedAt: 2000 }));
    expect(withMore(...long)).toEqual([expect.stringContaining("too many at once")]);
  });

  it("accepts one request that was sent late and requests that the site logged late, but no others", () => {
    const late = (count: number, lateMs: number, isExplained: boolean) =>
      judgeRound({
        ...correctRound(),
        limits: { perSecond: 200, perSite: 8 },
        log: correctRound().log.map((request, index) => {
          const isLate = index >= 20 && index < 20 + count;
          const at = isLate ? 20 * 5 + lateMs : request.arrivedAt;
          return seen(request.path, at, isExplained && isLate ? request.arrivedAt - 1 : at);
        }),
      });

    expect(late(1, 4.9, false)).toMatchObject({ problems: [], excessMs: expect.closeTo(4.9, 3) });
    expect(late(4, 15, false).problems).toEqual([expect.stringContaining("too fast")]);
    expect(late(4, 15, true)).toMatchObject({ problems: [], excessMs: 0, loggedExcessMs: expect.closeTo(15, 3) });
  });
});
