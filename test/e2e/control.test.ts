/** Inspects and controls jobs from another process than the process that crawls. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { rateExcessMs, SUSPENDED_MS } from "../chaos/rate-excess.ts";
import { createLinkedSite, LINKED_SITE } from "../site/linked-site.ts";
import { jsonLines, lastJson, startTrawl, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { linksTo, originOf, pagesRequested, recordArrivals } from "./sites.ts";

async function onlyJob(cwd: string): Promise<Summary> {
  const { jobs } = lastJson<{ jobs: Summary[] }>(await trawl(["jobs", "--json"], { cwd }));
  expect(jobs).toHaveLength(1);
  const [job] = jobs;
  if (job === undefined) throw new Error("no job");
  return job;
}

/** Polls the job through the command line until `isMet` returns true for it. */
async function pollJob(cwd: string, id: string, isMet: (job: Summary) => boolean): Promise<Summary> {
  for (;;) {
    const job = lastJson<Summary>(await trawl(["job", id, "--json"], { cwd }));
    expectBalanced(job.counts);
    if (isMet(job)) return job;
  }
}

/** A linked site that answers the first `free` requests at once, and all others only after `open` was called. */
async function gatedSite(pages: number, free: number) {
  const { handler } = createLinkedSite({ ...LINKED_SITE, pages });
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let requests = 0;
  const site = await originOf(async (request, response) => {
    if (++requests > free) await opened;
    await handler(request, response);
  });
  return { site, open };
}

describe("a running crawl", () => {
  it("is paused, explained and resumed by other processes, and then finishes normally", async () => {
    const [cwd, { site, open }] = [newFolder(), await gatedSite(80, 20)];
    const flags = ["--rate", "unlimited", "--per-site", "3", "--json"];
    const crawl = startTrawl(["crawl", `${site.url}/`, ...flags], { cwd });
    await site.waitForRequests(23);
    const { id } = await onlyJob(cwd);

    expect(await trawl(["pause", id], { cwd })).toMatchObject({ code: 0, stdout: "" });
    open();
    await pollJob(cwd, id, ({ state, counts }) => state === "paused" && counts.leased === 0);
    const explained = await trawl(["explain", id], { cwd });
    expect(explained.stdout).toMatch(
      /paused; .*: npx trawl crawl --resume j\w+ \(if its process is running: npx trawl resume j\w+\)$/m,
    );
    // Without the gate, the crawl would have finished during these commands.
    expect(site.log).toHaveLength(23);

    expect(lastJson<Summary>(await trawl(["resume", id, "--json"], { cwd }))).toMatchObject({ id, state: "running" });
    const end = await crawl.ended;
    expect(end.code).toBe(0);
    expect(lastJson<Summary>(end)).toMatchObject({ id, state: "finished", pages: 80, records: 80 });
    expect(pagesRequested(site)).toHaveLength(80);
  });

  it("is cancelled by another process: it exits with 1 and counts the pages that were not fetched", async () => {
    const [cwd, { site, open }] = [newFolder(), await gatedSite(80, 20)];
    const crawl = startTrawl(["crawl", `${site.url}/`, "--rate", "unlimited", "--per-site", "3", "--json"], { cwd });
    await site.waitForRequests(23);
    const { id } = await onlyJob(cwd);
    expect((await trawl(["cancel", id], { cwd })).code).toBe(0);
    open();

    const end = await crawl.ended;
    const summary = lastJson<Summary>(end);
    expect(end.code).toBe(1);
    expect(summary).toMatchObject({ id, state: "cancelled", pages: 22, records: 22, counts: { done: 22 } });
    expect(summary.counts.cancelled).toBeGreaterThan(0);
    expectBalanced(summary.counts);
    expect(site.log).toHaveLength(23);
    for (const change of ["resume", "pause"]) {
      const late = await trawl([change, id], { cwd });
      expect(late.code).toBe(2);
      expect(late.stderr).toMatch(/^trawl: JOB_ENDED: .*cancelled/);
    }
  });

  it("is explained by URL, site and job while it waits", async () => {
    const site = await originOf({ "/": linksTo("/next"), "/next": "<h1>next</h1>" });
    const cwd = newFolder();
    const crawl = startTrawl(["crawl", `${site.url}/`, "--rate", "1/h", "--ignore-robots"], { cwd });
    await site.waitForRequests(1);
    const { id } = await onlyJob(cwd);
    await pollJob(cwd, id, ({ counts }) => counts.done === 1 && counts.queued === 1);

    const byUrl = await trawl(["explain", `${site.url}/next`], { cwd });
    expect(byUrl.stdout).toMatch(/the rate of the site, 1\/h, allows the next request/);
    const bySite = await trawl(["explain", site.site], { cwd });
    expect(bySite.stdout).toMatch(/1 waiting/);
    const byJob = lastJson<{ reasons: string[]; until: number }>(await trawl(["explain", id, "--json"], { cwd }));
    expect(byJob.reasons[0]).toContain("is running: 1 queued");
    expect(byJob.until).toBeGreaterThan(Date.now());
    const unknown = await trawl(["explain", `${site.url}/nowhere`], { cwd });
    expect(unknown.stdout).toContain("no job has seen this URL");

    crawl.kill("SIGINT");
    expect((await crawl.ended).code).toBe(130);
    expect(pagesRequested(site)).toEqual(["/"]);
  });
});

describe("jobs and job", () => {
  it("list jobs, the newest first, as text and as JSON", async () => {
    const [cwd, site] = [newFolder(), await originOf({ "/": "<h1>home</h1>" })];
    const none = await trawl(["jobs"], { cwd });
    expect(none).toMatchObject({ code: 0, stdout: "" });
    expect(none.stderr).toContain("no jobs yet");
    for (const name of ["first", "second"]) {
      await trawl(["crawl", `${site.url}/`, "--name", name, "--quiet", "--json"], { cwd });
    }

    const { jobs } = lastJson<{ jobs: Summary[] }>(await trawl(["jobs", "--json"], { cwd }));
    expect(jobs.map(({ name }) => name)).toEqual(["second", "first"]);
    const table = await trawl(["jobs", "--limit", "1"], { cwd });
    expect(table.stdout).toContain("second");
    expect(table.stdout).not.toContain("first");
    const job = await trawl(["job", jobs[1]?.id ?? ""], { cwd });
    expect(job.stdout).toMatch(/first[\s\S]*finished[\s\S]*submitted +1\n[\s\S]*done +1\n/);
    for (const args of [["job"], ["records"], ["dead", "--list"]]) {
      const newest = await trawl(args, { cwd });
      expect(newest, newest.stderr).toMatchObject({ code: 0 });
      expect(newest.stderr).toContain(`newest job: ${jobs[0]?.id}  second`);
    }
    expect((await trawl(["job"], { cwd })).stdout).toMatch(/^\w+ {2}second\n/);
    const empty = await trawl(["records"], { cwd: newFolder() });
    expect(empty).toMatchObject({ code: 2, stderr: expect.stringMatching(/NOT_FOUND: no jobs yet/) });
    const unknown = await trawl(["job", "jnosuch"], { cwd });
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toMatch(/^trawl: NOT_FOUND: .*jnosuch.*trawl jobs/);
  });
});

describe("dead letters", () => {
  it("are grouped, listed with their history, replayed, and written to the output by --resume", async () => {
    let isUp = false;
    const cwd = newFolder();
    const site = await originOf({
      "/": linksTo("/ok", "/gone", "/broken"),
      "/ok": "<h1>ok</h1>",
      "/broken": (_, response) => {
        response.writeHead(isUp ? 200 : 500, { "content-type": "text/html" }).end("<h1>mended</h1>");
      },
    });
    const flags = ["--rate", "unlimited", "--retries", "1", "--json", "--out", "x.jsonl", "-e", "title=h1"];
    const run = (...args: string[]) => trawl(args, { cwd, env: { TRAWL_BACKOFF: "20ms" } });
    const first = await run("crawl", `${site.url}/`, ...flags);
    const { id, counts } = lastJson<Summary>(first);
    expect(first.code).toBe(0);
    expect(counts).toMatchObject({ done: 2, dead: 2 });

    expect(first.stderr).toMatch(/\n {2}failed {3}1 × http_status 404.*\n {2}details {2}npx trawl dead \w+\n$/s);
    const groups = await run("dead", id);
    expect(groups.stdout).toMatch(/1 +http_status +404 .*\/gone\n/);
    expect(groups.stdout).toMatch(/1 +retries_spent +500 .*\/broken\n/);
    const { dead } = lastJson<{ dead: { url: string; history: unknown[] }[] }>(
      await run("dead", id, "--reason", "retries_spent", "--list", "--json"),
    );
    expect(dead).toMatchObject([{ url: `${site.url}/broken`, history: [{ status: 500 }, { status: 500 }] }]);
    const explained = await run("explain", `${site.url}/gone`);
    expect(explained.stdout).toMatch(/failed .* ago after 1 attempt: http_status: answered 404/);

    isUp = true;
    expect(lastJson(await run("dead", id, "--reason", "retries_spent", "--replay", "--json"))).toEqual({ replayed: 1 });
    const second = await run("crawl", "--resume", id, "--json");
    const summary = lastJson<Summary>(second);
    expect(second.code).toBe(0);
    expect(summary).toMatchObject({ id, state: "finished", records: 3, counts: { done: 3, dead: 1 } });
    expectBalanced(summary.counts);
    const titles = jsonLines<{ title: string }>(readFileSync(join(cwd, "x.jsonl"), "utf8")).map(({ title }) => title);
    expect(titles.sort()).toEqual(["Links", "mended", "ok"]);

    expect(lastJson(await run("dead", id, "--discard", "--json"))).toEqual({ discarded: 1 });
    expect((await run("dead", id)).stderr).toContain("no failed URLs");
  });

  it("make a crawl exit with 1 with --strict, and with 0 without", async () => {
    const site = await originOf({ "/": linksTo("/gone") });
    const codes = await Promise.all(
      [["--strict"], []].map((flags) => trawl(["crawl", `${site.url}/`, "--quiet", ...flags], { cwd: newFolder() })),
    );

    expect(codes.map(({ code }) => code)).toEqual([1, 0]);
  });
});

describe("try", () => {
  const PAGE = `<title>Shop</title><h1>Kettle</h1><p class="price">£1,024.50</p><a href="/other">other</a>`;

  it("prints the records and links of a page as text and JSON, and stores nothing", async () => {
    const [cwd, site] = [
      newFolder(),
      await originOf({ "/": PAGE, "/old": { status: 301, headers: { location: "/" } } }),
    ];
    const rules = ["-e", "title=h1", "-e", "price=.price|number"];
    const pretty = await trawl(["try", `${site.url}/old`, ...rules], { cwd });
    expect(pretty.code).toBe(0);
    expect(pretty.stdout).toMatch(/200[\s\S]*Kettle[\s\S]*1024\.5[\s\S]*\/other/);

    const { records, links, page } = lastJson<{ records: unknown[]; links: string[]; page: { status: number } }>(
      await trawl(["try", `${site.url}/`, ...rules, "--json"], { cwd }),
    );
    expect(records).toEqual([{ title: "Kettle", price: 1024.5 }]);
    expect(links).toEqual([`${site.url}/other`]);
    expect(page.status).toBe(200);
    expect((await trawl(["jobs", "--json"], { cwd })).stdout).toBe('{"jobs":[]}\n');
  });

  it("runs a spider on its first start URL or on a given page, with the given handler", async () => {
    const [cwd, site] = [newFolder(), await originOf({ "/": linksTo("/p/1"), "/p/1": PAGE })];
    const spider = `
      export default {
        name: "shop",
        start: ["${site.url}/"],
        page: ({ follow }) => follow("a", { to: "product", carry: { from: "home" } }),
        handlers: {
          product: ({ $, emit, carry }) => emit({ title: $("h1").text(), from: carry.from }),
        },
      };`;
    writeFileSync(join(cwd, "spider.mjs"), spider);
    const product = ["try", "spider.mjs", `${site.url}/p/1`, "--handler", "product"];

    for (const handler of [[], ["--handler", "page"]]) {
      expect((await trawl(["try", "spider.mjs", ...handler], { cwd })).stdout).toContain(
        `${site.url}/p/1  to product  carry {"from":"home"}\n`,
      );
    }
    expect(lastJson(await trawl([...product, "--carry", '{"from":"test"}', "--json"], { cwd }))).toMatchObject({
      records: [{ title: "Kettle", from: "test" }],
      links: [],
    });
    expect(await trawl(product, { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^handler product failed on \S+\/p\/1: TypeError: .* at spider\.mjs:7:\d+\n$/),
    });
    expect(await trawl(["try", "spider.mjs", "--handler", "nope"], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("it has page, product"),
    });
    expect((await trawl(["try", `${site.url}/`, "--handler", "product"], { cwd })).stderr).toContain("need a spider");
  });

  it("reports an unknown handler and selectors without a match in `follow` of a spider", async () => {
    const [cwd, site] = [newFolder(), await originOf({ "/": linksTo("/p/1") })];
    const spider = (follow: string) =>
      writeFileSync(
        join(cwd, "spider.mjs"),
        `export default { name: "shop", start: ["${site.url}/"], page({ follow }) {\n${follow}\n} };`,
      );

    spider(`follow("a"); follow(".next");`);
    expect((await trawl(["try", "spider.mjs"], { cwd })).stdout).toMatch(/\/p\/1\nfollow: \.next matched no links\n$/);
    expect(lastJson(await trawl(["try", "spider.mjs", "--json"], { cwd }))).toMatchObject({ unmatched: [".next"] });
    spider(`follow("a", { to: "nope" });`);
    expect(await trawl(["try", "spider.mjs"], { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/: Error: spider shop has no handler nope; it has page at spider\.mjs:2:\d+\n$/),
    });
  });

  it("keeps the rate of the site for robots.txt, the redirect and the page", async () => {
    const { options, arrivals } = recordArrivals();
    const site = await originOf({ "/old": { status: 302, headers: { location: "/new" } }, "/new": PAGE }, options);
    const end = await trawl(["try", `${site.url}/old`], { cwd: newFolder(), env: { TRAWL_RATE: "5/s" } });

    expect(end.code).toBe(0);
    expect(site.log.map(({ path }) => path)).toEqual(["/robots.txt", "/old", "/new"]);
    expect(rateExcessMs(arrivals, 5)).toBeLessThan(SUSPENDED_MS);
  });

  it("prints why there is no page, and exits with 1", async () => {
    const site = await originOf({
      "/robots.txt": { headers: { "content-type": "text/plain" }, body: "User-agent: *\nDisallow: /no\n" },
      "/no": "<h1>no</h1>",
    });
    const cwd = newFolder();
    const gone = await trawl(["try", `${site.url}/gone`], { cwd });
    expect(gone).toMatchObject({ code: 1, stdout: "" });
    expect(gone.stderr).toContain("answered 404");
    const disallowed = await trawl(["try", `${site.url}/no`], { cwd });
    expect(disallowed.code).toBe(1);
    expect(disallowed.stderr).toContain("robots.txt disallows it");
    expect(pagesRequested(site)).toEqual(["/gone"]);
    expect((await trawl(["try", `${site.url}/no`, "--ignore-robots"], { cwd })).code).toBe(0);
  });
});
