/** A crawl that is stopped by a signal loses nothing and prints how to resume. */
import { readFileSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { duplicates, missing } from "../site/loss-checker.ts";
import { jsonLines, lastJson, startTrawl, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { linkedSite, linksTo, originOf, pagesRequested } from "./sites.ts";

/** A site that does not answer /slow until the test calls `speedUp`. */
async function siteWithSlowPage() {
  let isQuick = false;
  let held: ServerResponse | undefined;
  const site = await originOf({
    "/": linksTo("/slow"),
    "/slow": (_, response) => {
      if (isQuick) response.writeHead(200, { "content-type": "text/html" }).end("<h1>slow</h1>");
      else held = response;
    },
  });
  return {
    site,
    isHeld: () => held !== undefined && !held.destroyed,
    speedUp: () => {
      isQuick = true;
    },
  };
}

describe("an interrupted crawl", () => {
  it.each(["SIGINT", "SIGTERM"] as const)(
    "by %s exits with 130, prints how to resume, and can be resumed",
    async (signal) => {
      const [cwd, site] = [newFolder(), await linkedSite({ pages: 120 })];
      const crawl = startTrawl(["crawl", `${site.url}/`, "--rate", "100/s", "--out", "x.jsonl", "--json"], { cwd });
      await site.waitForRequests(30);
      crawl.kill(signal);
      const end = await crawl.ended;
      const stopped = lastJson<Summary>(end);

      expect(end.code).toBe(130);
      expect(stopped).toMatchObject({ state: "paused", counts: { leased: 0, dead: 0 } });
      expectBalanced(stopped.counts);
      expect(end.stderr).toContain(`crawl --resume ${stopped.id}`);
      expect(jsonLines(readFileSync(join(cwd, "x.jsonl"), "utf8"))).toHaveLength(stopped.pages);

      const resumed = await trawl(["crawl", "--resume", stopped.id, "--json"], { cwd });
      expect(resumed.code).toBe(0);
      expect(lastJson<Summary>(resumed)).toMatchObject({ id: stopped.id, state: "finished", pages: 120, records: 120 });
      const urls = jsonLines<{ _url: string }>(readFileSync(join(cwd, "x.jsonl"), "utf8")).map(({ _url }) => _url);
      expect(missing(site.expectedPages(), urls)).toEqual([]);
      expect(duplicates(urls)).toEqual(new Map());
      expect(duplicates(pagesRequested(site))).toEqual(new Map());
    },
  );

  it("returns tasks that do not end within the grace period unchanged", async () => {
    const [cwd, { site, speedUp }] = [newFolder(), await siteWithSlowPage()];
    const args = ["crawl", `${site.url}/`, "--rate", "unlimited", "--ignore-robots", "--json"];
    const crawl = startTrawl(args, { cwd, env: { TRAWL_GRACE: "100ms" } });
    await site.waitForRequests(2);
    crawl.kill("SIGINT");
    const end = await crawl.ended;

    expect(end.code).toBe(130);
    expect(lastJson<Summary>(end).counts).toMatchObject({ done: 1, queued: 1, leased: 0, delayed: 0 });
    speedUp();
    const resumed = await trawl([...args, "--resume"], { cwd });
    expect(lastJson<Summary>(resumed)).toMatchObject({
      state: "finished",
      pages: 2,
      counts: { submitted: 1, done: 2 },
    });
    expect(pagesRequested(site)).toEqual(["/", "/slow", "/slow"]);
  });

  it("ends at once at the second signal, and can be resumed", async () => {
    const [cwd, { site, isHeld, speedUp }] = [newFolder(), await siteWithSlowPage()];
    const args = ["crawl", `${site.url}/`, "--rate", "unlimited", "--ignore-robots", "--json"];
    const crawl = startTrawl(args, { cwd, env: { TRAWL_GRACE: "10m" } });
    await site.waitForRequests(2);
    crawl.kill("SIGINT");
    await crawl.prints(/stopping.*\n/);
    const [stopping = ""] = /^stopping.*$/m.exec(crawl.output().stderr) ?? [];
    expect(stopping).toContain("(press Ctrl-C again to stop now)");
    expect(stopping.length).toBeLessThan(80);
    expect(isHeld()).toBe(true);
    crawl.kill("SIGINT");
    expect(await crawl.ended).toMatchObject({ code: 130, stdout: "" });

    speedUp();
    const resumed = await trawl(["crawl", "--resume", "--json"], { cwd });
    expect(resumed.code).toBe(0);
    expect(lastJson<Summary>(resumed)).toMatchObject({ state: "finished", pages: 2, records: 2, counts: { dead: 0 } });
  });

  it("stops in time although a handler never ends", async () => {
    const [cwd, site] = [newFolder(), await originOf({ "/a": "<h1>a</h1>", "/b": "<h1>b</h1>" })];
    const spider = (waits: string) => `
      export default {
        name: "endless",
        start: ["${site.url}/a", "${site.url}/b"],
        politeness: { rate: "unlimited", robots: false },
        async page({ url, emit }) {
          emit({ url });
          if (url.endsWith("/a")) { console.error("waiting"); ${waits} }
        },
      };
    `;
    writeFileSync(join(cwd, "spider.mjs"), spider("await new Promise(() => {});"));
    const crawl = startTrawl(["crawl", "spider.mjs", "--json", "--quiet"], { cwd, env: { TRAWL_GRACE: "50ms" } });
    await crawl.prints(/waiting/);
    crawl.kill("SIGINT");
    const end = await crawl.ended;

    expect(end.code).toBe(130);
    writeFileSync(join(cwd, "spider.mjs"), spider(""));
    const resumed = await trawl(["crawl", "--resume", "--json", "--quiet"], { cwd });
    expect(lastJson<Summary>(resumed)).toMatchObject({ state: "finished", records: 2, counts: { done: 2, dead: 0 } });
  });

  it("by kill -9 is explained, traced and diagnosed as stopped, and runs only after crawl --resume", async () => {
    const [cwd, site] = [newFolder(), await linkedSite({ pages: 40 })];
    const crawl = startTrawl(["crawl", `${site.url}/`, "--rate", "20/s"], { cwd });
    await site.waitForRequests(10);
    crawl.kill("SIGKILL");
    await crawl.ended;
    const { jobs } = lastJson<{ jobs: Summary[] }>(await trawl(["jobs", "--json"], { cwd }));
    const id = jobs[0]?.id ?? "";

    const stopped = `no process runs crawl ${id}; continue it with: npx trawl crawl --resume ${id}\n`;
    for (const command of ["explain", "trace"]) {
      const { stdout } = await trawl([command, id], { cwd });
      expect(stdout).toContain(stopped);
      expect(stdout).not.toMatch(/trawl worker|more tasks/);
    }
    const diagnosis = (await trawl(["doctor"], { cwd })).stdout.replaceAll(/\s+/g, " ");
    expect(diagnosis).toContain(`continue it with: npx trawl crawl --resume ${id}`);
    for (const state of ["running", "paused"]) {
      if (state === "paused") await trawl(["pause", id], { cwd });
      const refused = await trawl(["resume", id], { cwd });
      expect(refused).toMatchObject({ code: 2, stderr: `trawl: CRAWL_STOPPED: ${stopped}` });
    }
    const worker = await trawl(["worker", "--queues", `fetch,crawl:${id}`, "--drain"], { cwd });
    expect(worker.code).toBe(2);
    expect(worker.stderr).toMatch(new RegExp(`^trawl: BAD_USAGE: crawl:${id} .*: npx trawl crawl --resume ${id}\\n$`));

    const resumed = await trawl(["crawl", "--resume", id, "--rate", "unlimited", "--json"], { cwd });
    expect(lastJson<Summary>(resumed)).toMatchObject({ state: "finished", pages: 40, counts: { dead: 0 } });
    const again = await trawl(["crawl", "--resume"], { cwd });
    expect(again).toMatchObject({ code: 2, stdout: "" });
    expect(again.stderr).toMatch(
      /^trawl: NOTHING_TO_RESUME: nothing to resume: all crawls have ended; .*npx trawl jobs/,
    );
  });

  it("is resumed by a command with the same target and flags, and not by one with others", async () => {
    const [cwd, site] = [newFolder(), await linkedSite({ pages: 60 })];
    const args = ["crawl", `${site.url}/`, "--rate", "50/s", "--json"];
    const crawl = startTrawl(args, { cwd });
    await site.waitForRequests(10);
    crawl.kill("SIGINT");
    const { id } = lastJson<Summary>(await crawl.ended);

    const other = await trawl([...args, "--max-depth", "0", "--resume"], { cwd });
    expect(lastJson<Summary>(other)).toMatchObject({ state: "finished", pages: 1 });
    expect(lastJson<Summary>(other).id).not.toBe(id);
    const same = await trawl([...args, "--resume"], { cwd });
    expect(lastJson<Summary>(same)).toMatchObject({ id, state: "finished", pages: 60 });
  });
});
