/** Tests settings from a file, the environment and flags; targets from lists and standard input; and --max-seconds. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { linkedSite, originOf, pagesRequested } from "./sites.ts";

describe("settings", () => {
  it("come from trawl.config.ts, the environment and flags, and later sources override earlier ones", async () => {
    const [cwd, site] = [newFolder(), await originOf({ "/": "<h1>home</h1>" })];
    const config = `
      const agent: string = "from-file/1.0";
      export default { userAgent: agent, broker: "sqlite:here/broker.db", store: "sqlite:here/store.db" };
    `;
    writeFileSync(join(cwd, "trawl.config.ts"), config);
    const agents = async (env: Record<string, string>, ...flags: string[]) => {
      const end = await trawl(["crawl", `${site.url}/`, "--quiet", "--json", ...flags], { cwd, env });
      expect(end.code).toBe(0);
      return site.log.at(-1)?.headers["user-agent"];
    };

    expect(await agents({})).toBe("from-file/1.0");
    expect(await agents({ TRAWL_USER_AGENT: "from-env/1.0" })).toBe("from-env/1.0");
    expect(await agents({ TRAWL_USER_AGENT: "from-env/1.0" }, "--user-agent", "from-flag/1.0")).toBe("from-flag/1.0");
    expect(existsSync(join(cwd, "here/store.db"))).toBe(true);
    expect(existsSync(join(cwd, ".trawl/store.db"))).toBe(false);
  });

  it("set the user agent, whose product name selects a group of robots.txt, and request headers", async () => {
    const robots = "User-agent: *\nDisallow: /\n\nUser-agent: acme\nAllow: /\n";
    const site = await originOf({
      "/robots.txt": { headers: { "content-type": "text/plain" }, body: robots },
      "/": "<h1>home</h1>",
    });
    const args = ["crawl", `${site.url}/`, "--quiet", "--json", "--header", "X-Key: a: b"];
    const unknown = await trawl(args, { cwd: newFolder() });
    expect(unknown.code).toBe(1);
    expect(lastJson<Summary>(unknown)).toMatchObject({ state: "failed", counts: { refused: 1 } });
    expect(pagesRequested(site)).toEqual([]);
    const allowed = await trawl([...args, "--user-agent", "acme/2.0 (+http://acme.test)"], { cwd: newFolder() });
    expect(allowed.code).toBe(0);
    expect(site.log.at(-1)).toMatchObject({ path: "/", headers: { "x-key": "a: b" } });
  });
});

describe("targets", () => {
  it("are read from a list or from standard input, one URL per line", async () => {
    const [cwd, site] = [newFolder(), await linkedSite({ pages: 10, disallowedEvery: 0 })];
    const list = `# some pages\n${site.url}/page/3\n\n  ${site.url}/page/4  \n${site.url}/page/3\n`;
    writeFileSync(join(cwd, "urls.txt"), list);
    const flags = ["--follow", "none", "--json", "--quiet", "--rate", "unlimited"];
    const fromFile = await trawl(["crawl", "urls.txt", ...flags], { cwd });
    const fromInput = await trawl(["crawl", "-", ...flags], { cwd, input: list });

    for (const end of [fromFile, fromInput]) {
      expect(end.code).toBe(0);
      expect(lastJson<Summary>(end).counts).toMatchObject({ submitted: 3, duplicate: 1, done: 2 });
    }
    expect(pagesRequested(site).sort()).toEqual(["/page/3", "/page/3", "/page/4", "/page/4"]);
  });
});

describe("--max-seconds", () => {
  it("ends a crawl that takes longer, and counts the cancelled URLs", async () => {
    const [cwd, site] = [newFolder(), await linkedSite({ pages: 400 })];
    const args = ["crawl", `${site.url}/`, "--rate", "20/s", "--max-seconds", "1", "--json", "--quiet"];
    const end = await trawl(args, { cwd });
    const { counts, pages } = lastJson<Summary>(end);

    expectBalanced(counts);
    expect(end.code).toBe(0);
    expect(counts.cancelled).toBeGreaterThan(0);
    expect(pages).toBe(pagesRequested(site).length);
    expect(pages).toBeLessThan(400);
  });
});
