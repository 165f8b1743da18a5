/** Checks in the logs of the sites which pages a crawl requests. */
import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { linkedSite, linksTo, originOf, pagesRequested } from "./sites.ts";

async function crawl(url: string, ...flags: string[]): Promise<{ code: number | null; summary: Summary; cwd: string }> {
  const cwd = newFolder();
  const end = await trawl(["crawl", url, "--json", "--quiet", "--rate", "unlimited", ...flags], { cwd });
  const summary = lastJson<Summary>(end);
  expectBalanced(summary.counts);
  return { code: end.code, summary, cwd };
}

const SHELF = {
  "/": `${linksTo("/catalogue/", "/blog/")}<nav><a href="/help">help</a></nav>`,
  "/catalogue/": linksTo("/catalogue/a", "/catalogue/b", "/catalogue/b?print=1"),
  "/catalogue/a": linksTo("/catalogue/deep/c"),
  "/catalogue/b": "<h1>b</h1>",
  "/catalogue/deep/c": "<h1>c</h1>",
  "/blog/": linksTo("/catalogue/a"),
  "/help": linksTo("/blog/"),
};

const CASES: readonly { flags: readonly string[]; pages: readonly string[] }[] = [
  {
    flags: [],
    pages: [
      "/",
      "/blog/",
      "/catalogue/",
      "/catalogue/a",
      "/catalogue/b",
      "/catalogue/b?print=1",
      "/catalogue/deep/c",
      "/help",
    ],
  },
  { flags: ["--follow", "none"], pages: ["/"] },
  { flags: ["--max-depth", "0"], pages: ["/"] },
  { flags: ["--max-depth", "1"], pages: ["/", "/blog/", "/catalogue/", "/help"] },
  { flags: ["--follow", "nav a"], pages: ["/", "/help"] },
  {
    flags: ["--include", "**/catalogue/**"],
    pages: ["/", "/catalogue/", "/catalogue/a", "/catalogue/b", "/catalogue/b?print=1", "/catalogue/deep/c"],
  },
  {
    flags: ["--exclude", "**/catalogue/deep/**", "--exclude", "?print=*", "--exclude", "**/help"],
    pages: ["/", "/blog/", "/catalogue/", "/catalogue/a", "/catalogue/b"],
  },
];

describe("following links", () => {
  it.each(CASES)("finds $pages.length pages with $flags", async ({ flags, pages }) => {
    const site = await originOf(SHELF);
    const { code, summary } = await crawl(`${site.url}/`, ...flags);

    expect(code).toBe(0);
    expect(pagesRequested(site).sort()).toEqual(pages);
    expect(summary).toMatchObject({ pages: pages.length, records: pages.length });
  });

  it("stops exactly at --max-pages", async () => {
    const site = await linkedSite({ pages: 60 });
    const { code, summary } = await crawl(`${site.url}/`, "--max-pages", "17", "--per-site", "8");

    expect(code).toBe(0);
    expect(pagesRequested(site)).toHaveLength(17);
    expect(summary).toMatchObject({ state: "finished", pages: 17, records: 17 });
  });

  it("stays on the site of the start URL; with --scope any, it leaves the site and obeys each robots.txt", async () => {
    const other = await originOf({
      "/robots.txt": { headers: { "content-type": "text/plain" }, body: "User-agent: *\nDisallow: /secret\n" },
      "/": linksTo("/secret", "/open"),
      "/open": "<h1>open</h1>",
      "/secret": "<h1>secret</h1>",
    });
    const home = await originOf({ "/": linksTo("/near", `${other.url}/`), "/near": "<h1>near</h1>" });

    await crawl(`${home.url}/`);
    expect(other.log).toEqual([]);
    const { summary } = await crawl(`${home.url}/`, "--scope", "any");
    expect(pagesRequested(other).sort()).toEqual(["/", "/open"]);
    expect(summary).toMatchObject({ pages: 4, counts: { refused: 1 } });
  });

  it("follows a redirect to another site from a start URL, but not from a link", async () => {
    const away = await originOf({ "/target": "<h1>target</h1>", "/linked": "<h1>linked</h1>" });
    const moved = (location: string) => ({ status: 302, headers: { location } });
    const home = await originOf({
      "/": moved(`${away.url}/target`),
      "/list": linksTo("/out"),
      "/out": moved(`${away.url}/linked`),
    });

    const given = await crawl(`${home.url}/`);
    expect(pagesRequested(away)).toEqual(["/target"]);
    expect(given.summary).toMatchObject({ state: "finished", pages: 1, records: 1 });
    await crawl(`${home.url}/list`);
    expect(pagesRequested(home)).toContain("/out");
    expect(pagesRequested(away)).toEqual(["/target"]);
  });

  it("fetches the target of many redirects once, and fails a redirect to itself", async () => {
    const moved = (location: string) => ({ status: 301, headers: { location } });
    const site = await originOf({
      "/": linksTo("/old-1", "/old-2", "/old-3", "/loop"),
      "/old-1": moved("/new"),
      "/old-2": moved("/new"),
      "/old-3": moved("/old-2"),
      "/new": "<h1>new</h1>",
      "/loop": moved("/loop"),
    });
    const { summary, cwd } = await crawl(`${site.url}/`);

    expect(pagesRequested(site).sort()).toEqual(["/", "/loop", "/new", "/old-1", "/old-2", "/old-3"]);
    expect(summary).toMatchObject({ pages: 2, counts: { dead: 1 } });
    const { groups } = lastJson<{ groups: unknown[] }>(await trawl(["dead", "--json"], { cwd }));
    expect(groups).toEqual([expect.objectContaining({ reason: "redirect_loop", status: 301, count: 1 })]);
  });
});

describe("private addresses", () => {
  /** Counts connections to another loopback address, which no command names. */
  async function privateListener(): Promise<{ authority: string; connections: () => number }> {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.2", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    return { authority: `127.0.0.2:${port}`, connections: () => connections };
  }

  it("are not reached by links in any notation", async () => {
    const listener = await privateListener();
    const port = listener.authority.split(":")[1];
    const hosts = ["127.0.0.2", "2130706434", "0x7f.2", "0177.0.0.2", "[::ffff:127.0.0.2]", "127.0.0.2."];
    const site = await originOf({ "/": linksTo(...hosts.map((host) => `http://${host}:${port}/x`)) });
    const { code, summary, cwd } = await crawl(`${site.url}/`, "--scope", "any");

    expect(listener.connections()).toBe(0);
    expect(code).toBe(0);
    expect(summary.pages).toBe(1);
    const { groups } = lastJson<{ groups: { reason: string }[] }>(await trawl(["dead", "--json"], { cwd }));
    expect(new Set(groups.map(({ reason }) => reason))).toEqual(new Set(["egress_refused"]));
  });

  it("are not reached by a redirect, not even from the start URL", async () => {
    const listener = await privateListener();
    const site = await originOf({ "/": { status: 302, headers: { location: `http://${listener.authority}/` } } });
    const { summary } = await crawl(`${site.url}/`);

    expect(listener.connections()).toBe(0);
    expect(summary).toMatchObject({ pages: 0, counts: { dead: 1 } });
  });

  it("are not reached by a name that resolves to them", async () => {
    const site = await originOf({ "/home": linksTo("/near"), "/near": "<h1>near</h1>", "/inside": "<h1>inside</h1>" });
    const home = await originOf({ "/": linksTo(`http://localhost:${new URL(site.url).port}/inside`) });
    const { summary } = await crawl(`${home.url}/`, "--scope", "any");

    expect(site.log).toEqual([]);
    expect(summary).toMatchObject({ pages: 1, counts: { dead: 1 } });
  });

  it("are reached if the operator allows their network", async () => {
    const inside = await originOf({ "/": "<h1>inside</h1>" }, { host: "127.0.0.2" });
    const site = await originOf({ "/": linksTo(`${inside.url}/`) });
    const args = ["crawl", `${site.url}/`, "--scope", "any", "--json", "--rate", "unlimited"];
    const end = await trawl(args, { cwd: newFolder(), env: { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8" } });

    expect(pagesRequested(inside)).toEqual(["/"]);
    expect(lastJson<Summary>(end)).toMatchObject({ pages: 2, counts: { dead: 0 } });
  });
});
