import { describe, expect, it } from "vitest";
import type { Visit } from "./fleet-log.ts";
import { type FleetEvidence, judgeFleet } from "./judge-fleet.ts";
import { expectedLedger, expectedPages, planWeb, type SitePlan } from "./sites.ts";

const WEB = planWeb({ sites: 10, pages: 200, seconds: 10, sitePrefix: "127.77", port: 8000, seed: 1 });
const [SLOW, , , , , SINGLE] = WEB as [SitePlan, SitePlan, SitePlan, SitePlan, SitePlan, SitePlan];

function visit(site: string, path: string, arrivedAt: number, more: Partial<Visit> = {}): Visit {
  const over = arrivedAt + 5;
  const seen = { arrivedAt, arrivedAfter: arrivedAt, endedAt: over, overFrom: over, status: 200 };
  return { site, path, worker: "fleet-0/1", from: "127.0.0.1", ...seen, ...more };
}

/** Requests robots.txt, then every page, of every site, as early as the rate of the site allows. */
function correctVisits(): Visit[] {
  return WEB.flatMap(({ site, pages, perSecond }) => {
    const paths = ["/robots.txt", ...Array.from({ length: pages }, (_, number) => `/page/${number}`)];
    return paths.map((path, index) => visit(site, path, (index * 1000) / perSecond));
  });
}

function correctRun(): FleetEvidence {
  return {
    web: WEB,
    visits: correctVisits(),
    records: [...expectedPages(WEB)].map(([_url, label]) => ({ _url, label })),
    job: { state: "finished", counts: expectedLedger(WEB), tally: { pages: 200, records: 200, invalid: 0, bytes: 1 } },
    replayed: 0,
    kills: [],
    outages: [],
    workers: 2,
    concurrency: 3,
    leaseMs: 5_000,
  };
}

function problemsOf(change: (evidence: FleetEvidence) => Partial<FleetEvidence>): string[] {
  const evidence = correctRun();
  return judgeFleet({ ...evidence, ...change(evidence) }).problems;
}

const withVisits = (...more: Visit[]) => problemsOf(({ visits }) => ({ visits: [...visits, ...more] }));

describe("the judge of a fleet", () => {
  it("finds no problem in a correct run", () => {
    expect(judgeFleet(correctRun())).toMatchObject({
      problems: [],
      visits: 210,
      records: 200,
      repeated: 0,
      unexplained: 0,
      dead: 0,
    });
  });

  it("detects a lost page, and a record that is duplicate, of an unknown page, or differs from its page", () => {
    expect(problemsOf(({ records }) => ({ records: records.slice(1) }))).toEqual([
      expect.stringMatching(/^1 pages are lost: .*127\.77\.0\.1:8000\/page\/0$/),
    ]);
    expect(problemsOf(({ records }) => ({ records: [...records, ...records.slice(0, 2)] }))).toEqual([
      expect.stringContaining("2 pages have more than one record"),
    ]);
    expect(problemsOf(({ records }) => ({ records: [...records, { _url: "http://127.77.0.1:8000/x" }] }))).toEqual([
      expect.stringContaining("1 records of unknown pages"),
    ]);
    const swapped = (records: FleetEvidence["records"]) =>
      records.map((record, index) => (index === 0 ? { ...record, label: "another" } : record));
    expect(problemsOf(({ records }) => ({ records: swapped(records) }))).toEqual([
      expect.stringContaining("1 records differ from their page"),
    ]);
  });

  it("detects counts that are wrong by one or do not balance, a wrong tally, and a job that has not ended", () => {
    const withCounts = (more: Record<string, number>) =>
      problemsOf(({ job }) => ({ job: { ...job, counts: { ...job.counts, ...more } } }));
    const { done, duplicate } = expectedLedger(WEB);

    expect(withCounts({ done: done - 1, dead: 1 })).toEqual([
      `the ledger is wrong: done ${done - 1} instead of ${done}, dead 1 instead of 0`,
    ]);
    expect(withCounts({ duplicate: duplicate + 1 })).toEqual([
      expect.stringContaining("the ledger is wrong"),
      expect.stringContaining("does not balance"),
    ]);
    expect(problemsOf(({ job }) => ({ job: { ...job, tally: { ...job.tally, records: 201 } } }))).toEqual([
      expect.stringContaining("the tally is wrong"),
    ]);
    expect(problemsOf(({ job }) => ({ job: { ...job, state: "running" } }))).toEqual([
      "the job is running, not finished",
    ]);
  });

  it("detects more failed URLs than the kills explain", () => {
    const kills = [1, 2].map((at) => ({ worker: `fleet-0/${at}`, at }));
    expect(problemsOf(() => ({ kills, replayed: 2 }))).toEqual([]);
    expect(problemsOf(() => ({ kills, replayed: 3 }))).toEqual(["3 URLs failed; 2 kills explain 2"]);
  });

  it("detects a page that was never requested, and a disallowed request", () => {
    expect(problemsOf(({ visits }) => ({ visits: visits.slice(0, -1) }))).toEqual([
      expect.stringContaining("1 pages were never requested"),
    ]);
    expect(withVisits(visit(SLOW.site, "/private/3", 1e6))).toEqual([
      expect.stringContaining("1 requests that robots.txt disallows"),
    ]);
    expect(withVisits(visit(SLOW.site, "/page/20", 1e6), visit("127.77.9.9:8000", "/", 1e6))).toEqual([
      expect.stringContaining("2 requests for unknown pages"),
    ]);
  });
});

describe("the judge of politeness", () => {
  /** Delays one request of a site by `lateMs`; the log may explain `logDelayMs` of that. */
  const delayed = (site: string, lateMs: number, logDelayMs: number) =>
    problemsOf(({ visits }) => ({
      visits: visits.map((one) => {
        if (one.site !== site || one.path !== "/page/7") return one;
        const arrivedAt = one.arrivedAt + lateMs;
        return { ...one, arrivedAt, arrivedAfter: arrivedAt - logDelayMs, overFrom: arrivedAt + 5 };
      }),
    }));

  it("detects one window of one site that is too fast, and accepts one that a logging delay explains", () => {
    expect(delayed(SLOW.site, 60, 0)).toEqual([
      expect.stringMatching(/^127\.77\.0\.1:8000 got requests too fast: .* 60\.0 ms too short for 2\/s/),
    ]);
    expect(delayed(SLOW.site, 60, 60)).toEqual([]);
    expect(delayed(SLOW.site, 40, 0)).toEqual([]);
  });

  it("detects one concurrent request too many, and uses the earliest possible end of aborted requests", () => {
    const { site, perSite } = SINGLE;
    expect(perSite).toBe(1);
    const longer = (overFrom: number | undefined) =>
      problemsOf(({ visits }) => ({
        visits: visits.map((one) => (one.site === site && one.path === "/page/7" ? { ...one, overFrom } : one)),
      }));
    const at = correctVisits().find((one) => one.site === site && one.path === "/page/7")?.arrivedAt ?? 0;

    expect(longer(at + 101)).toEqual([`${site} had 2 requests at once; it allows 1`]);
    expect(longer(undefined)).toEqual([expect.stringContaining("requests at once")]);
    expect(longer(at + 100)).toEqual([]);
    expect(longer(at - 3)).toEqual([]);
  });
});

describe("the judge of repeated requests", () => {
  const LATER = 1e6;
  const died = (count: number, concurrency: number, kill: { worker: string; at: number }) =>
    problemsOf(({ visits }) => {
      const dying = Array.from({ length: count }, (_, nth) =>
        visit(SLOW.site, `/page/${nth}`, LATER + nth * 500, { worker: "fleet-1/7" }),
      );
      const again = dying.map((one, nth) => visit(one.site, one.path, LATER + 1e5 + nth * 500));
      const paths = new Set(dying.map(({ path }) => path));
      const others = visits.filter(({ site, path }) => site !== SLOW.site || !paths.has(path));
      return { visits: [...others, ...dying, ...again], concurrency, kills: [kill] };
    });

  it("accepts the repeats of a worker that died, up to its concurrency", () => {
    expect(died(3, 3, { worker: "fleet-1/7", at: LATER + 1_200 })).toEqual([]);
    expect(died(4, 3, { worker: "fleet-1/7", at: LATER + 1_700 })).toEqual([
      "4 requests were repeated; the kills allow 3",
      "one kill caused 4 requests to be repeated; a worker has 3 at once",
    ]);
  });

  it("detects repeats if the worker did not die, died too late, or must have settled the page before", () => {
    const unexplained = [expect.stringMatching(/^1 requests were repeated without a kill or outage that explains it/)];
    expect(died(1, 3, { worker: "fleet-1/8", at: LATER + 10 })).toEqual(unexplained);
    expect(died(1, 3, { worker: "fleet-1/7", at: LATER + 2e5 })).toEqual(unexplained);
    expect(died(1, 3, { worker: "fleet-1/7", at: LATER + 4_000 })).toEqual(unexplained);
  });

  it("accepts repeats of pages that a broker outage prevented from being settled, and no others", () => {
    const repeatedAt = (at: number) =>
      problemsOf(({ visits }) => ({
        visits: [...visits, visit(SLOW.site, "/page/0", LATER), visit(SLOW.site, "/page/0", at)].filter(
          ({ site, path, arrivedAt }) => site !== SLOW.site || path !== "/page/0" || arrivedAt >= LATER,
        ),
        outages: [{ from: LATER + 100, to: LATER + 1_100 }],
      }));

    expect(repeatedAt(LATER + 5_200)).toEqual([]);
    expect(repeatedAt(LATER + 50)).toEqual([
      expect.stringContaining("too fast"),
      expect.stringContaining("without a kill or outage"),
    ]);
  });
});
