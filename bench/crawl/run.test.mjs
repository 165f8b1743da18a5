import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startOrigin } from "../../test/site/origin.ts";
import { toRun } from "./group.mjs";
import { runCrawl } from "./run.mjs";

const PATHS = ["/", "/a.html"];
const SITE = "127.0.0.1";
const signal = new AbortController().signal;
let server;
let requests = [];

beforeAll(async () => {
  server = await startOrigin(
    { "/": "<a href=/a.html>", "/a.html": "a", "/robots.txt": "" },
    {
      onEnd: ({ arrivedAt, endedAt, path, method, status }) =>
        void requests.push({ site: SITE, startedAt: arrivedAt, endedAt, path, method, status }),
    },
  );
});
afterAll(() => server.close());
beforeEach(() => {
  requests = [];
});

/** Runs `source` as a contestant, with a server that replaces nginx. */
function run(source, { isPeer = false, keepsRecords = true, intervalMs, budgetMs = 20_000, timeoutMs = 30_000 } = {}) {
  const command = ({ scratch, urls }) => {
    const script = `(async () => { const url = ${JSON.stringify(urls[0])}; const get = async (path) => (await fetch(url + path)).text(); ${source} })()`;
    return { command: process.execPath, args: ["-e", script], cwd: scratch, env: process.env };
  };
  return runCrawl({
    contestant: { services: [], isPeer, keepsRecords, command },
    workload: { sites: 1, pages: 2, rate: "unlimited", intervalMs },
    origin: {
      urls: [server.url],
      addresses: [SITE],
      paths: PATHS,
      mark: async () => {},
      readRequests: async () => requests,
    },
    services: {},
    options: { packets: false, budgetMs, timeoutMs },
    signal,
  });
}

const CRAWL = `await get("/robots.txt"); await get("/"); await get("/a.html");`;
const CLAIM = "console.log(JSON.stringify({ pages: 2, records: 2 }));";

describe.skipIf(process.platform !== "linux")("a run of a crawl", () => {
  it("has figures and no problem if every page was fetched once", async () => {
    const result = await run(`${CRAWL} ${CLAIM}`);

    expect(result).toMatchObject({ pages: 2, problems: [], notes: [] });
    expect(result.cpuSPer1k).toBeGreaterThan(0);
    expect(result.peakRssMb).toBeGreaterThan(0);
  });

  it("fails if Trawl misses or repeats pages or records, and says which", async () => {
    const { problems } = await run(`await get("/"); await get("/"); ${CLAIM}`);

    expect(problems).toEqual([
      "missed 1 of 2 pages, such as 127.0.0.1/a.html",
      "fetched 1 pages twice, such as 127.0.0.1/",
      "2 records of 1 pages",
    ]);
  });

  it("keeps the figures of another crawler that misses pages, with a note", async () => {
    const result = await run(`await get("/"); ${CLAIM}`, { isPeer: true });

    expect(result).toMatchObject({ pages: 1, problems: [] });
    expect(result.notes).toContain("missed 1 of 2 pages, such as 127.0.0.1/a.html");
  });

  it("ends another crawler after its time budget, and keeps the cost until then", async () => {
    const result = await run(`await get("/"); setInterval(() => {}, 1000);`, { isPeer: true, budgetMs: 1_500 });

    expect(result).toMatchObject({ problems: [], notes: ["ended by the time budget, with 1 of 2 pages"] });
    expect(result.cpuSPer1k).toBeGreaterThan(0);
  });

  it("fails if the contestant fails, with its stderr, or takes too long", async () => {
    const failed = await run(`console.error("no such command"); process.exit(2)`, { isPeer: true });
    const late = await run("setInterval(() => {}, 1000);", { timeoutMs: 500 });

    expect(failed.problems[0]).toBe("ended with code 2:\n    no such command");
    expect(late.problems).toEqual(["was killed after 0.5 s, with 0 of 2 pages fetched"]);
    expect(toRun(late)).toMatchObject({ problem: late.problems[0] });
  });

  it("judges the gaps and the allowance of a site with a rate, robots.txt included", async () => {
    const result = await run(`${CRAWL} ${CLAIM}`, { intervalMs: 10_000 });

    expect(result.gaps).toMatchObject({ by: "log", gaps: 2, short: 2 });
    expect(result.allowancePerS).toBeCloseTo(2 / 20);
  });
});
