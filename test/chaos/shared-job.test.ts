/**
 * Several processes work on one job, and one of them is suspended. The tests check the log of the site and the output.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/runtime/sqlite.ts";
import { jsonLines, lastJson, type RunningCli, startTrawl, trawl } from "../e2e/cli.ts";
import { newFolder } from "../e2e/folder.ts";
import { expectBalanced, type Summary } from "../e2e/ledger.ts";
import { linkedSite, pagesRequested, recordArrivals } from "../e2e/sites.ts";
import type { RunningLinkedSite } from "../site/linked-site.ts";
import { duplicates, missing } from "../site/loss-checker.ts";
import { concurrencyViolations } from "../site/politeness-checker.ts";
import { allowedExcessMs, rateExcessMs } from "./rate-excess.ts";

async function onlyJobId(cwd: string): Promise<string> {
  const { jobs } = lastJson<{ jobs: Summary[] }>(await trawl(["jobs", "--json"], { cwd }));
  return jobs[0]?.id ?? "";
}

function expectWhole(cwd: string, site: RunningLinkedSite): void {
  const urls = jsonLines<{ _url: string }>(readFileSync(join(cwd, "x.jsonl"), "utf8")).map(({ _url }) => _url);
  expect(missing(site.expectedPages(), urls)).toEqual([]);
  expect(duplicates(urls)).toEqual(new Map());
  expect(site.log.filter(({ path }) => path.startsWith("/private/"))).toEqual([]);
}

/** Suspends a process outside of a write: during a write, it would block all other writers until it continues. */
async function suspendBetweenWrites(suspended: RunningCli, cwd: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    suspended.kill("SIGSTOP");
    if (["broker.db", "store.db"].every((name) => isWritable(join(cwd, ".trawl", name)))) return;
    suspended.kill("SIGCONT");
    await new Promise(setImmediate);
  }
  throw new Error("the process was writing in each of 100 attempts to suspend it");
}

function isWritable(path: string): boolean {
  try {
    const db = openDatabase(path, { durability: "normal", busyMs: 0, pageBytes: 4096 });
    db.write(() => {});
    db.close();
    return true;
  } catch {
    return false; // the file is in use by another process, so it can only be locked
  }
}

describe("a job with several processes", () => {
  it("fetches every page once, at the rate of one crawler", async () => {
    const [cwd, { options, arrivals }] = [newFolder(), recordArrivals()];
    const site = await linkedSite({ pages: 100, delayMs: 60 }, options);
    const flags = ["--rate", "20/s", "--per-site", "3", "--json", "--quiet", "--out", "x.jsonl"];
    const first = startTrawl(["crawl", `${site.url}/`, ...flags], { cwd });
    await site.waitForRequests(5);
    const id = await onlyJobId(cwd);
    const others = ["y.jsonl", "z.jsonl"].map((out) =>
      startTrawl(["crawl", "--resume", id, "--json", "--quiet", "--out", out], { cwd }),
    );
    const ends = await Promise.all([first, ...others].map(({ ended }) => ended));

    expect(ends.map(({ code, stderr }) => ({ code, stderr }))).toEqual(ends.map(() => ({ code: 0, stderr: "" })));
    for (const end of ends) expect(lastJson<Summary>(end)).toMatchObject({ id, state: "finished", records: 100 });
    expectWhole(cwd, site);
    expect(duplicates(pagesRequested(site))).toEqual(new Map());
    const sockets = new Set(site.log.map(({ socket }) => socket));
    expect(sockets.size).toBeGreaterThan(1);
    expect(rateExcessMs(arrivals, 20)).toBeLessThanOrEqual(allowedExcessMs(20));
    const intervals = site.log.map(({ arrivedAt, endedAt }) => ({ from: arrivedAt, to: endedAt }));
    expect(concurrencyViolations(intervals, 3)).toEqual([]);
  });

  it("continues without a suspended process, and ignores the late results of that process", async () => {
    const [cwd, site] = [newFolder(), await linkedSite({ pages: 120, delayMs: 20 })];
    const env = { TRAWL_LEASE: "1s", TRAWL_LOG_LEVEL: "error" };
    const flags = ["--rate", "100/s", "--per-site", "4", "--json", "--quiet", "--out", "x.jsonl"];
    const suspended = startTrawl(["crawl", `${site.url}/`, ...flags], { cwd, env });
    await site.waitForRequests(40);
    await suspendBetweenWrites(suspended, cwd);
    const id = await onlyJobId(cwd);
    const resumed = await trawl(["crawl", "--resume", id, "--json", "--quiet"], { cwd, env });

    expect(resumed.code).toBe(0);
    const summary = lastJson<Summary>(resumed);
    expect(summary).toMatchObject({ state: "finished", pages: 120, records: 120, counts: { done: 120, dead: 0 } });
    suspended.kill("SIGCONT");
    const end = await suspended.ended;
    expect(end.code).toBe(0);
    expect(lastJson<Summary>(end)).toMatchObject({
      state: "finished",
      pages: 120,
      records: 120,
      counts: summary.counts,
    });
    expectBalanced(summary.counts);
    expectWhole(cwd, site);
    // Only the requests of the suspended process were repeated.
    expect(pagesRequested(site).length).toBeLessThanOrEqual(120 + 4);
  });
});
