import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startSite } from "../site/start-site.mjs";
import { runContestant } from "./run.mjs";

const PAGES = 60;
const signal = new AbortController().signal;
let site;

beforeAll(async () => {
  site = await startSite({ pages: PAGES, seed: 7 });
});
afterAll(() => site.stop());

/** Runs `source` instead of a contestant, to produce its failures. */
function runInstead(name, source) {
  const alter = (command) => ({ ...command, args: ["-e", source] });
  return runContestant({ name, round: 1, site, timeoutMs: 30_000, signal, alter });
}

describe.skipIf(process.platform !== "linux")("a run of the benchmark", () => {
  it("finds no problem in a run of the floor, which fetches every page once", async () => {
    const run = await runContestant({ name: "floor", round: 1, site, timeoutMs: 30_000, signal });

    expect(run).toMatchObject({ pages: PAGES, problems: [], notes: [] });
    expect(run.cpuSPer1kPages).toBeGreaterThan(0);
    expect(run.peakRssMb).toBeGreaterThan(0);
  });

  it("reports pages that were missed or fetched twice, and wrong counts of the contestant", async () => {
    const { problems } = await runInstead(
      "trawl",
      `(async () => {
        for (let n = 0; n < 2; n++) await (await fetch("${site.url}")).text();
        console.log(JSON.stringify({ pages: ${PAGES}, records: 3 }));
      })()`,
    );

    expect(problems).toEqual([
      expect.stringContaining(`missed ${PAGES - 1} of ${PAGES} pages`),
      expect.stringContaining("fetched 1 pages twice, such as /"),
      `reports ${PAGES} pages; the server counted 1`,
      "stored 3 records of 1 pages",
    ]);
  });

  it("reports a contestant that fails, with its stderr", async () => {
    const { problems } = await runInstead("trawl", `console.error("no such command"); process.exit(2)`);

    expect(problems[0]).toBe("ended with code 2:\n    no such command");
  });

  it("notes requests for URLs that are not pages, except for robots.txt", async () => {
    const { notes } = await runInstead(
      "floor",
      `Promise.all(["robots.txt", "ghost.html"].map((path) => fetch("${site.url}" + path)))`,
    );

    expect(notes).toEqual(["requested URLs that are not pages: GET /ghost.html x1"]);
  });

  it("resets the counts before each run", async () => {
    const { seen } = await runInstead("floor", "");

    expect(seen).toMatchObject({ requests: 0, missedPages: PAGES, otherRequests: {} });
  });
});
