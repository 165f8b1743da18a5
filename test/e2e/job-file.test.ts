/** Tests jobs in JSON files. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { linksTo, originOf, pagesRequested } from "./sites.ts";

function folderWith(job: unknown, onFinished?: (clear: () => void) => void): string {
  const cwd = newFolder(onFinished);
  writeFileSync(join(cwd, "job.json"), JSON.stringify(job));
  return cwd;
}

describe("a job file", () => {
  it("can have every option of a job, and all are applied", async () => {
    const site = await originOf({
      "/": linksTo("/catalogue/1", "/catalogue/secret", "/about"),
      "/catalogue/1": `<h1>One</h1><p class="price">£5.00</p><a class="tag">x</a><a class="tag">y</a>${linksTo("/catalogue/2")}`,
      "/catalogue/2": `<h1>Two</h1><p class="price">none</p>${linksTo("/catalogue/3")}`,
      "/catalogue/3": "<h1>Too deep</h1>",
    });
    const cwd = folderWith({
      name: "everything",
      urls: [`${site.url}/`],
      follow: { links: "a[href]", scope: "site", include: ["**/catalogue/**"], exclude: ["**/secret"], maxDepth: 2 },
      extract: {
        title: "h1",
        price: { select: ".price", type: "number", required: true },
        tags: ["a.tag"],
      },
      politeness: { rate: "100/s", burst: 2, perSite: 2, robots: false, sites: { [site.site]: { rate: "200/s" } } },
      retries: { max: 1, backoff: "50ms" },
      limits: { pages: 10, seconds: 60, bodyBytes: 100_000 },
      queue: "fetch",
      priority: 3,
      render: "never",
      headers: { "x-crawl": "yes" },
      dedup: { scope: "shelf", expireAfter: "1h" },
      keep: { bodies: true, pages: true, records: true },
    });
    const end = await trawl(["crawl", "job.json", "--out", "out.jsonl", "--json"], { cwd });

    expect(end.code).toBe(0);
    const summary = lastJson<Summary>(end);
    expectBalanced(summary.counts);
    expect(summary).toMatchObject({ name: "everything", state: "finished", pages: 3, records: 1, invalid: 2 });
    expect(site.log.map(({ path }) => path)).not.toContain("/robots.txt");
    expect(pagesRequested(site).sort()).toEqual(["/", "/catalogue/1", "/catalogue/2"]);
    expect(new Set(site.log.map(({ headers }) => headers["x-crawl"]))).toEqual(new Set(["yes"]));
    expect(jsonLines(readFileSync(join(cwd, "out.jsonl"), "utf8"))).toMatchObject([
      { title: "One", price: 5, tags: ["x", "y"], _depth: 1 },
    ]);
    expect(existsSync(join(cwd, ".trawl/bodies"))).toBe(true);

    // The named set of seen URLs is shared: the same job finds no new URL.
    const again = lastJson<Summary>(await trawl(["crawl", "job.json", "--json"], { cwd }));
    expect(again.counts).toMatchObject({ submitted: 1, duplicate: 1, done: 0 });
    expect(pagesRequested(site)).toHaveLength(3);
  });

  it("is overridden by flags", async () => {
    const site = await originOf({ "/": linksTo("/a"), "/a": "<h1>a</h1>" });
    const cwd = folderWith({ name: "file", urls: [`${site.url}/`], follow: {}, extract: { title: "h1" } });
    const end = await trawl(["crawl", "job.json", "--name", "flag", "--follow", "none", "-e", "heading=h1", "--json"], {
      cwd,
    });
    const { id, name, pages } = lastJson<Summary>(end);

    expect({ name, pages }).toEqual({ name: "flag", pages: 1 });
    expect(jsonLines((await trawl(["records", id], { cwd })).stdout)).toMatchObject([{ heading: "Links" }]);
  });

  it("that stores nothing keeps only counters", async () => {
    const site = await originOf({ "/": "<h1>home</h1>" });
    const cwd = folderWith({ urls: [`${site.url}/`], keep: { pages: false, records: false } });
    const { id, counts } = lastJson<Summary>(await trawl(["crawl", "job.json", "--json"], { cwd }));

    expect(counts.done).toBe(1);
    expect((await trawl(["records", id], { cwd })).stdout).toBe("");
  });

  it.concurrent.for([
    {
      job: { urls: ["http://127.0.0.1/"], rate: "4/s" },
      message: /unknown key rate; rate: did you mean politeness\.rate\? known/,
    },
    {
      job: { urls: ["http://127.0.0.1/"], ulrs: [] },
      message: /unknown key ulrs; ulrs: did you mean urls\? known keys: .*urls.*follow.*keep/,
    },
    {
      job: { urls: ["http://127.0.0.1/"], follow: { depth: 3 } },
      message: /unknown key depth in follow; depth: did you mean follow\.maxDepth\? known keys: .*maxDepth/,
    },
    { job: { urls: ["http://127.0.0.1/"], politeness: { rate: "fast" } }, message: /politeness\.rate: .*4\/s.*"fast"/ },
    {
      job: { urls: ["http://127.0.0.1/"], priority: 42, retries: { max: -1 } },
      message: /retries\.max: .*\n.*priority: /,
    },
    { job: { urls: ["http://127.0.0.1/"], extract: { a: "p >" } }, message: /BAD_SELECTOR.*"p >"/ },
    { job: { urls: "http://127.0.0.1/" }, message: /urls: .*list/ },
    { job: {}, message: /BAD_USAGE: nothing to crawl/ },
    { job: [], message: /object/ },
    { job: null, message: /object/ },
  ])("is refused before anything is queued: $message", async ({ job, message }, { expect, onTestFinished }) => {
    const cwd = folderWith(job, onTestFinished);
    const end = await trawl(["crawl", "job.json"], { cwd });

    expect(end).toMatchObject({ code: 2, stdout: "" });
    expect(end.stderr).toMatch(/^trawl: BAD_(JOB|SELECTOR|USAGE): /);
    expect(end.stderr).toMatch(message);
    expect((await trawl(["jobs", "--json"], { cwd })).stdout).toBe('{"jobs":[]}\n');
  });
});
