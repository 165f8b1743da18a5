/** Tests what a job does after a block, judged by the site: which requests it got, and how many. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { CHROMIUM } from "../browser/chromium.ts";
import type { Handler, Origin } from "../site/origin.ts";
import { startProxy, type TestProxy } from "../site/proxy.ts";
import { jsonLines, lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { originOf } from "./sites.ts";

const FAST = ["--rate", "unlimited", "--ignore-robots", "--json", "--quiet"];
const QUICK_RETRIES = { backoff: "10ms" };

type Seen = { path: string; cookie: string; from: string | undefined };
type SeenSite = Origin & { seen: Seen[] };

/** A site that notes every request for a page. */
async function siteOf(handle: Handler): Promise<SeenSite> {
  const seen: Seen[] = [];
  const site = await originOf((request, response) => {
    const { url: path = "", headers, socket } = request;
    seen.push({ path, cookie: headers.cookie ?? "", from: socket.remoteAddress });
    response.setHeader("content-type", "text/html");
    return handle(request, response);
  });
  return Object.assign(site, { seen });
}

async function proxyAt(address: string): Promise<TestProxy> {
  const proxy = await startProxy({ address });
  onTestFinished(() => proxy.close());
  return proxy;
}

async function crawlJob(job: object, args: readonly string[] = []) {
  const cwd = newFolder();
  writeFileSync(join(cwd, "job.json"), JSON.stringify({ retries: QUICK_RETRIES, extract: { title: "h1" }, ...job }));
  const end = await trawl(["crawl", "job.json", ...FAST, ...args], { cwd });
  const summary = lastJson<Summary>(end);
  expectBalanced(summary.counts);
  const titles = jsonLines((await trawl(["records", summary.id], { cwd })).stdout).map(
    (record) => (record as { title: string }).title,
  );
  return { cwd, end, summary, titles };
}

type Dead = { dead: { url: string; reason: string; status: number; history: { detail: string }[] }[] };

async function deadOf(cwd: string): Promise<Dead["dead"]> {
  return lastJson<Dead>(await trawl(["dead", "--list", "--json"], { cwd })).dead;
}

async function causesOf(cwd: string): Promise<string[]> {
  const { groups } = lastJson<{ groups: { cause: string }[] }>(await trawl(["dead", "--json"], { cwd }));
  return groups.map(({ cause }) => cause);
}

const PX_PAGE = '<div id="px-captcha"></div>';
const PAGE = "<h1>page</h1>";

describe("a job with blocks", () => {
  it("gets a page from a site that answers only fresh sessions, and other pages use the new session", async () => {
    let sessions = 0;
    const used = new Map<string, number>();
    // Each session is blocked after two pages.
    const site = await siteOf(({ headers }, response) => {
      const sid = /sid=(\w+)/.exec(headers.cookie ?? "")?.[1] ?? `s${++sessions}`;
      const count = (used.get(sid) ?? 0) + 1;
      used.set(sid, count);
      response.setHeader("set-cookie", `sid=${sid}; Path=/`);
      if (count > 2) response.writeHead(403, { "x-px-block": "1" }).end(PX_PAGE);
      else response.end(PAGE);
    });

    const urls = [1, 2, 3, 4, 5, 6].map((nth) => `${site.url}/${nth}`);
    const { summary, titles } = await crawlJob({
      urls,
      cookies: true,
      politeness: { perSite: 1 },
      blocks: { steps: ["session", "session"] },
    });

    expect(summary.counts.dead).toBe(0);
    expect(titles).toHaveLength(6);
    expect(sessions).toBe(3);
    expect(site.seen.filter(({ cookie }) => cookie === "").length).toBe(3);
  });

  it("sends at most `max` requests to a site that always blocks, and names the block everywhere", async () => {
    const site = await siteOf((_, response) => {
      response.writeHead(403, { "x-datadome": "protected" }).end("no");
    });

    const { cwd, summary } = await crawlJob({
      urls: [`${site.url}/a`],
      cookies: true,
      blocks: { steps: ["wait", "session", "wait", "wait"], max: 3 },
    });

    expect(summary.counts).toMatchObject({ done: 0, dead: 1 });
    expect(site.seen).toHaveLength(3);
    const [letter] = await deadOf(cwd);
    expect(letter).toMatchObject({ reason: "blocked", status: 403 });
    expect(letter?.history.map(({ detail }) => detail)).toEqual([
      "answered 403, blocked (datadome); next: wait",
      "answered 403, blocked (datadome); next: session",
      "answered 403, blocked (datadome); steps taken: wait, session",
    ]);
    expect(await causesOf(cwd)).toEqual(["blocked (datadome)"]);
    expect((await trawl(["dead"], { cwd })).stdout).toContain("blocked (datadome)");
    const explained = await trawl(["explain", `${site.url}/a`], { cwd });
    expect(explained.stdout).toContain("blocked: answered 403, blocked (datadome); steps taken: wait, session");
    const traced = await trawl(["trace", `${site.url}/a`], { cwd });
    expect(traced.stdout).toContain("next: session");
  });

  it("never sends more requests than retries.max allows, and a replay begins with the first step", async () => {
    const site = await siteOf((_, response) => {
      response.writeHead(429).end("slow down");
    });

    const { cwd, summary } = await crawlJob({
      urls: [`${site.url}/a`],
      retries: { ...QUICK_RETRIES, max: 1 },
      blocks: { steps: ["wait", "wait", "wait"] },
    });

    expect(site.seen).toHaveLength(2);
    expect(summary.counts.dead).toBe(1);
    expect(await causesOf(cwd)).toEqual(["blocked (status 429)"]);
    await trawl(["dead", summary.id, "--replay"], { cwd });
    await trawl(["crawl", "--resume", summary.id, "--json", "--quiet"], { cwd });
    expect(site.seen).toHaveLength(4);
    expect((await deadOf(cwd))[0]?.history.at(-2)?.detail).toContain("next: wait");
  });

  it("fails at once without steps, and does not treat other errors as blocks", async () => {
    const site = await siteOf(({ url }, response) => {
      response.writeHead(url === "/blocked" ? 403 : 404).end("no");
    });

    const { cwd } = await crawlJob({ urls: [`${site.url}/blocked`, `${site.url}/gone`], blocks: { steps: [] } });

    expect(site.seen).toHaveLength(2);
    const reasons = (await deadOf(cwd)).map(({ url, reason }) => [new URL(url).pathname, reason]);
    expect(reasons.sort()).toEqual([
      ["/blocked", "blocked"],
      ["/gone", "http_status"],
    ]);
  });

  it("uses the next proxy tier only with the step proxy, and one request per attempt", async () => {
    const [first, second] = [await proxyAt("127.0.1.1"), await proxyAt("127.0.1.2")];
    const site = await siteOf(({ socket }, response) => {
      if (socket.remoteAddress === first.address) response.writeHead(403).end("no");
      else response.end(PAGE);
    });
    const config = `export default { proxies: [
      { url: ${JSON.stringify(first.url)}, tags: ["cheap"] }, { url: ${JSON.stringify(second.url)}, tags: ["good"] },
    ] };`;
    const cwd = newFolder();
    writeFileSync(join(cwd, "trawl.config.ts"), config);
    const job = {
      urls: [`${site.url}/a`],
      retries: QUICK_RETRIES,
      // biome-ignore lint/suspicious/noThenProperty: a key of a job
      proxy: { use: ["cheap"], then: ["good"] },
      // The job has no sessions, so the step session is skipped.
      blocks: { steps: ["wait", "session", "proxy"] },
    };
    writeFileSync(join(cwd, "job.json"), JSON.stringify(job));

    const summary = lastJson<Summary>(await trawl(["crawl", "job.json", ...FAST], { cwd }));

    expect(summary.counts).toMatchObject({ done: 1, dead: 0 });
    expect(site.seen.map(({ from }) => from)).toEqual([first.address, first.address, second.address]);
  });

  it.skipIf(CHROMIUM === undefined)(
    "gets the pages of a site that requires a cookie, which only a browser can get",
    async () => {
      const site = await siteOf(({ headers }, response) => {
        if (headers.cookie?.includes("pass=yes") === true) response.end(PAGE);
        else response.writeHead(403, { "cf-mitigated": "challenge" }).end(CHALLENGE);
      });

      const { summary, titles } = await crawlJob({
        urls: [`${site.url}/1`, `${site.url}/2`],
        politeness: { perSite: 1 },
        blocks: { steps: ["browser"] },
      });

      expect(summary.counts.dead).toBe(0);
      expect(titles).toEqual(["page", "page"]);
    },
  );

  it.skipIf(CHROMIUM === undefined)("fails a page that stays blocked in the browser too", async () => {
    const site = await siteOf((_, response) => {
      response.writeHead(403, { "cf-mitigated": "block" }).end("<h1>no</h1>");
    });

    const { cwd, summary } = await crawlJob({
      urls: [`${site.url}/1`],
      browser: { settle: "200ms" },
      blocks: { steps: ["wait", "browser"] },
    });

    expect(summary.counts.dead).toBe(1);
    expect(site.seen).toHaveLength(3);
    const [letter] = await deadOf(cwd);
    expect(letter).toMatchObject({ reason: "blocked", status: 403 });
    expect(await causesOf(cwd)).toEqual(["blocked (cloudflare)"]);
    expect(letter?.history.at(-1)?.detail).toContain("steps taken: wait, browser");
  });
});

/** Like the page of a bot protection: its script needs a moment, sets a cookie and loads the page again. */
const CHALLENGE = `<!doctype html><title>Just a moment...</title><script>
  setTimeout(() => { document.cookie = "pass=yes; path=/"; location.reload(); }, 300);
</script>`;
