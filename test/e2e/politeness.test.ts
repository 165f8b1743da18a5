/** Checks rates and robots.txt with the log of the site. The checkers share no code with src/. */
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { allowedExcessMs, rateExcessMs, SUSPENDED_MS } from "../chaos/rate-excess.ts";
import { concurrencyViolations } from "../site/politeness-checker.ts";
import { lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import type { Summary } from "./ledger.ts";
import { linkedSite, linksTo, originOf, pagesRequested, recordArrivals } from "./sites.ts";

const robots = (text: string) => ({ headers: { "content-type": "text/plain" }, body: text });

function crawl(url: string, ...flags: string[]) {
  return trawl(["crawl", url, "--json", "--quiet", ...flags], { cwd: newFolder() });
}

describe("politeness", () => {
  it("keeps the rate and the number of concurrent requests, including robots.txt", async () => {
    const { options, arrivals } = recordArrivals();
    const site = await linkedSite({ pages: 40, delayMs: 120 }, options);
    const end = await crawl(`${site.url}/`, "--rate", "20/s", "--per-site", "2");

    expect(end.code).toBe(0);
    expect(site.log).toHaveLength(41);
    expect(rateExcessMs(arrivals, 20)).toBeLessThanOrEqual(allowedExcessMs(20));
    const intervals = site.log.map(({ arrivedAt, endedAt }) => ({ from: arrivedAt, to: endedAt }));
    expect(concurrencyViolations(intervals, 2)).toEqual([]);
  });

  it("reports that another job has set the rate of the site", async () => {
    const [cwd, site] = [newFolder(), await linkedSite({ pages: 8 })];
    const submitted = await trawl(["submit", `${site.url}/`, "--rate", "3/s", "--name", "slow", "--json"], { cwd });
    const { id } = lastJson<Summary>(submitted);
    const args = ["crawl", `${site.url}/`, "--rate", "50/s"];
    const text = `${site.site}: the rate of the site (3/s) is set by job ${id} (slow), the strictest of 2 jobs at this site; this job wants 50/s`;

    expect((await trawl(args, { cwd })).stderr).toContain(`\n  rate     ${text}\n`);
    expect(lastJson(await trawl([...args, "--json"], { cwd }))).toMatchObject({ rates: [text] });
    await trawl(["cancel", id], { cwd });
    expect(lastJson(await trawl([...args, "--json"], { cwd }))).not.toHaveProperty("rates");
  });

  it("obeys a Crawl-delay that is stricter than the rate", async () => {
    const paths = ["/a", "/b", "/c", "/d"];
    const routes = {
      "/robots.txt": robots("User-agent: *\nCrawl-delay: 0.5\n"),
      "/": linksTo(...paths),
      ...Object.fromEntries(paths.map((path) => [path, "<h1>page</h1>"])),
    };
    const { options, arrivals } = recordArrivals();
    const site = await originOf(routes, options);
    const end = await crawl(`${site.url}/`, "--rate", "unlimited");

    expect(end.code).toBe(0);
    expect(pagesRequested(site).sort()).toEqual(["/", ...paths]);
    const pages = arrivals.filter(({ path }) => path !== "/robots.txt");
    expect(rateExcessMs(pages, 2)).toBeLessThan(SUSPENDED_MS);
  });

  it.each([
    { status: 503, as: "seconds", value: () => "1" },
    { status: 429, as: "a date", value: () => new Date(Date.now() + 2_500).toUTCString() },
  ])("pauses the whole site for Retry-After: a $status with $as", async ({ status, value }) => {
    let retryAt = 0;
    const paths = ["/a", "/b", "/c"];
    const site = await originOf({
      "/": linksTo("/busy", ...paths),
      ...Object.fromEntries(paths.map((path) => [path, "<h1>page</h1>"])),
      "/busy": (_, response) => {
        const text = value();
        if (retryAt > 0) return void response.writeHead(200, { "content-type": "text/html" }).end("<h1>now</h1>");
        retryAt = Number.isNaN(Number(text)) ? Date.parse(text) : Date.now() + Number(text) * 1000;
        response.writeHead(status, { "retry-after": text }).end();
      },
    });
    // With one request at a time, no other request is under way when the site sends Retry-After.
    const end = await crawl(`${site.url}/`, "--rate", "unlimited", "--per-site", "1");

    expect(end.code).toBe(0);
    expect(pagesRequested(site).sort()).toEqual(["/", "/a", "/b", "/busy", "/busy", "/c"]);
    const refused = site.log.findIndex((arrival) => arrival.status === status);
    const early = site.log.slice(refused + 1).filter(({ arrivedAt }) => arrivedAt < retryAt);
    expect(early).toEqual([]);
    expect(site.log.length).toBeGreaterThan(refused + 1);
  });

  it("obeys robots.txt, and does not request it with --ignore-robots", async () => {
    const site = await linkedSite({ pages: 20 });
    const polite = await crawl(`${site.url}/`, "--rate", "unlimited");
    const before = site.log.map(({ path }) => path);

    expect(before.filter((path) => path.startsWith("/private/"))).toEqual([]);
    expect(before.filter((path) => path === "/robots.txt")).toHaveLength(1);
    expect(lastJson<Summary>(polite).pages).toBe(20);
    const rude = await crawl(`${site.url}/`, "--rate", "unlimited", "--ignore-robots");
    const after = site.log.slice(before.length).map(({ path }) => path);
    expect(after).not.toContain("/robots.txt");
    expect(after.filter((path) => path.startsWith("/private/"))).toHaveLength(site.disallowedPages().length);
    expect(lastJson<Summary>(rude).pages).toBe(20 + site.disallowedPages().length);
  });

  it("fetches nothing from a site whose robots.txt fails, and reports the reason", async () => {
    const site = await originOf({ "/robots.txt": { status: 500 }, "/": "<h1>home</h1>" });
    const cwd = newFolder();
    const end = await trawl(["crawl", `${site.url}/`, "--json", "--retries", "1"], {
      cwd,
      env: { TRAWL_BACKOFF: "50ms" },
    });

    expect(end.code).toBe(1);
    expect(pagesRequested(site)).toEqual([]);
    const { dead } = lastJson<{ dead: { history: { because: string; detail: string }[] }[] }>(
      await trawl(["dead", "--list", "--json"], { cwd }),
    );
    expect(dead[0]?.history.at(-1)).toMatchObject({
      because: "robots_unreachable",
      detail: expect.stringContaining("answered 500"),
    });
  });

  it("fails for a host that refuses connections, with exit code 1 and the reason", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    const url = `http://127.0.0.1:${port}/`;
    const cwd = newFolder();
    const end = await trawl(["crawl", url, "--retries", "1"], { cwd, env: { TRAWL_BACKOFF: "50ms" } });

    expect(end).toMatchObject({ code: 1, stdout: "" });
    expect(end.stderr).toContain("no page could be fetched");
    expect(end.stderr).toContain(url);
    const list = await trawl(["dead", "--list"], { cwd });
    expect(list.stdout).toContain("ECONNREFUSED");
  });
});
