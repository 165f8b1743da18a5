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

/** Runs other code in place of a contestant's, so that its failures can be had at will. */
function pretend(name, source) {
  const alter = (command) => ({ ...command, args: ["-e", source] });
  return runContestant({ name, round: 1, site, timeoutMs: 30_000, signal, alter });
}

describe.skipIf(process.platform !== "linux")("a run of the benchmark", () => {
  it("finds nothing wrong with the floor, which fetches every page once", async () => {
    const run = await runContestant({ name: "floor", round: 1, site, timeoutMs: 30_000, signal });

    expect(run).toMatchObject({ pages: PAGES, problems: [], notes: [] });
    expect(run.cpuSPer1kPages).toBeGreaterThan(0);
    expect(run.peakRssMb).toBeGreaterThan(0);
  });

  it("reports pages that were missed or fetched twice, and claims that are not so", async () => {
    const { problems } = await pretend(
      "trawl",
      `(async () => {
        for (let n = 0; n < 2; n++) await (await fetch("${site.url}")).text();
        console.log(JSON.stringify({ pages: ${PAGES}, records: 3 }));
      })()`,
    );

    expect(problems).toEqual([
      expect.stringContaining(`missed ${PAGES - 1} of ${PAGES} pages`),
      expect.stringContaining("fetched 1 pages twice, such as /"),
      `says ${PAGES} pages; the server saw 1`,
      "kept 3 records of 1 pages",
    ]);
  });

  it("reports a contestant that fails with its stderr", async () => {
    const { problems } = await pretend("trawl", `console.error("no such command"); process.exit(2)`);

    expect(problems[0]).toBe("ended with code 2:\n    no such command");
  });

  it("notes requests for what is no page, but not for robots.txt", async () => {
    const { notes } = await pretend(
      "floor",
      `Promise.all(["robots.txt", "ghost.html"].map((path) => fetch("${site.url}" + path)))`,
    );

    expect(notes).toEqual(["asked for what is no page: GET /ghost.html x1"]);
  });

  it("starts counting anew for each run", async () => {
    const { seen } = await pretend("floor", "");

    expect(seen).toMatchObject({ requests: 0, missedPages: PAGES, strays: {} });
  });
});
