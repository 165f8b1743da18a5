/** Tests crawls through real proxies, from the side of the site, and that no credential of a proxy is ever shown. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { CHROMIUM } from "../browser/chromium.ts";
import { allowedExcessMs, rateExcessMs } from "../chaos/rate-excess.ts";
import { findCertificatesObstacle, makeCertificates } from "../services/certificates.ts";
import type { Handler, Origin } from "../site/origin.ts";
import { type ProxyOptions, startProxy, type TestProxy } from "../site/proxy.ts";
import { lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { linkedSite, linksTo, originOf, recordArrivals } from "./sites.ts";

const FAST = ["--rate", "unlimited", "--ignore-robots", "--json", "--quiet"];

type SeenSite = Origin & { from: (string | undefined)[] };

async function siteOf(handle: Handler): Promise<SeenSite> {
  const from: (string | undefined)[] = [];
  const site = await originOf((request, response) => {
    from.push(request.socket.remoteAddress);
    response.setHeader("content-type", "text/html");
    return handle(request, response);
  });
  return Object.assign(site, { from });
}

async function proxyOf(options: ProxyOptions = {}): Promise<TestProxy> {
  const proxy = await startProxy(options);
  onTestFinished(() => proxy.close());
  return proxy;
}

async function crawl(cwd: string, args: readonly string[], env: Record<string, string> = {}) {
  const end = await trawl(["crawl", ...args, ...FAST], { cwd, env });
  const summary = lastJson<Summary>(end);
  expectBalanced(summary.counts);
  return { end, summary };
}

describe("a crawl with --proxy", () => {
  it("sends pages and robots.txt through HTTP and SOCKS5 proxies, with a password by reference", async () => {
    const cwd = newFolder();
    const login = { username: "user", password: "canary-password" };
    const proxies = [
      await proxyOf({ ...login, address: "127.0.1.1" }),
      await proxyOf({ ...login, kind: "socks5", address: "127.0.1.2" }),
    ];
    const site = await siteOf(({ url }, response) => {
      if (url === "/robots.txt") response.writeHead(404).end();
      else response.end(url === "/" ? linksTo("/1", "/2", "/3", "/4", "/5") : "<h1>page</h1>");
    });
    const written = proxies.map(({ url }) => url.replace("canary-password", "env:PROXY_PASSWORD"));
    writeFileSync(join(cwd, "proxies.txt"), written.join("\n"));

    const env = { PROXY_PASSWORD: "canary-password" };
    const end = await trawl(["crawl", `${site.url}/`, "--proxy", "proxies.txt", "--rate", "unlimited", "--json"], {
      cwd,
      env,
    });

    expect(lastJson<Summary>(end).counts).toMatchObject({ done: 6 });
    expect(site.log.map(({ path }) => path)).toContain("/robots.txt");
    expect(new Set(site.from)).toEqual(new Set(["127.0.1.1", "127.0.1.2"]));
  });

  it("keeps the proxy of a session", async () => {
    const cwd = newFolder();
    const proxies = [await proxyOf({ address: "127.0.1.1" }), await proxyOf({ address: "127.0.1.2" })];
    const addresses = new Map<string, Set<string | undefined>>();
    let visitors = 0;
    const site = await siteOf((request, response) => {
      const id = /id=(\d+)/.exec(request.headers.cookie ?? "")?.[1] ?? String(++visitors);
      addresses.set(id, (addresses.get(id) ?? new Set()).add(request.socket.remoteAddress));
      response.setHeader("set-cookie", `id=${id}; Path=/`);
      response.end("<h1>page</h1>");
    });
    const job = {
      urls: Array.from({ length: 40 }, (_, nth) => `${site.url}/${nth}`),
      politeness: { rate: "unlimited", perSite: 1, robots: false },
      sessions: { count: 4 },
      proxy: { rotate: "session" },
    };
    writeFileSync(join(cwd, "job.json"), JSON.stringify(job));

    const { summary } = await crawl(cwd, ["job.json", ...proxies.flatMap(({ url }) => ["--proxy", url])]);

    expect(summary.counts).toMatchObject({ done: 40 });
    expect(visitors).toBe(4);
    expect([...addresses.values()].map(({ size }) => size)).toEqual([1, 1, 1, 1]);
  });

  it.skipIf(findCertificatesObstacle() !== undefined)("reaches an https site through every kind of proxy", async () => {
    const folder = mkdtempSync(join(tmpdir(), "trawl-tls-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { ca, server } = makeCertificates(folder);
    const tls = { cert: readFileSync(server.cert), key: readFileSync(server.key) };
    const site = createTlsServer(tls, (_, response) => response.end("<h1>secure</h1>"));
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void site.close());
    const url = `https://127.0.0.1:${(site.address() as AddressInfo).port}/`;
    for (const kind of ["http", "https", "socks5"] as const) {
      const proxy = await proxyOf(kind === "https" ? { kind, tls } : { kind });
      const args = ["try", url, "--proxy", proxy.url, "--ignore-robots", "--json"];
      const end = await trawl(args, { cwd: newFolder(), env: { NODE_EXTRA_CA_CERTS: ca } });
      expect([kind, end.code, proxy.targets]).toEqual([kind, 0, [new URL(url).host]]);
    }
  });

  it("through a gateway keeps the site, the URL and the records of the target", async () => {
    const cwd = newFolder();
    const gateway = await siteOf(({ url }, response) => {
      const { searchParams } = new URL(url ?? "", "http://gateway.test");
      const target = searchParams.get("url") ?? "";
      if (target.endsWith("/robots.txt")) response.end("user-agent: *\ndisallow: /private");
      else response.end(target.endsWith("/") ? linksTo("/1", "/private/2") : `<h1>${searchParams.get("key")}</h1>`);
    });
    // Not typed by the user, so that the gate checks it; 93.184.216.34 is a public address.
    writeFileSync(
      join(cwd, "trawl.config.ts"),
      `export default { proxies: [{ gateway: "${gateway.url}/?key=env:GATE_KEY&url={url}", provider: "gate" }] };`,
    );
    const end = await trawl(["crawl", "http://93.184.216.34/", "--rate", "unlimited", "--json", "-e", "key=h1"], {
      cwd,
      env: { GATE_KEY: "k1" },
    });
    expect(lastJson<Summary>(end).counts).toMatchObject({ done: 2, refused: 1 });
    const { stdout } = await trawl(["records", "--format", "jsonl"], { cwd });
    expect(stdout).toContain("http://93.184.216.34/1");
    expect(stdout).toContain('"key":"k1"');
  });

  it.skipIf(CHROMIUM === undefined)("sends all requests of a rendered page through the same proxy", async () => {
    const proxies = [await proxyOf({ address: "127.0.1.1" }), await proxyOf({ kind: "socks5", address: "127.0.1.2" })];
    const site = await siteOf(({ url }, response) => {
      if (url === "/") return void response.end('<h1>no</h1><script src="/a.js"></script>');
      response.setHeader("content-type", "text/javascript");
      response.end('fetch("/b").then(() => { document.querySelector("h1").textContent = "yes"; })');
    });
    const list = proxies.flatMap(({ url }) => ["--proxy", url]);
    for (let nth = 0; nth < 2; nth++) {
      site.from.length = 0;
      const args = ["try", `${site.url}/`, "--render", "always", "--wait-for", "idle", "-e", "title=h1", "--json"];
      const end = await trawl([...args, ...list, "--ignore-robots"], { cwd: newFolder() });
      expect(end.stdout).toContain('"title":"yes"');
      expect([site.from.length >= 3, new Set(site.from).size]).toEqual([true, 1]);
      expect(site.from[0]).toMatch(/^127\.0\.1\./);
    }
  });

  it("does not fetch directly if all proxies fail, and the site does not back off", async () => {
    const [cwd, dead, site] = [newFolder(), await proxyOf(), await siteOf((_, response) => void response.end("ok"))];
    dead.mode = "dead";
    const args = [`${site.url}/`, "--proxy", dead.url, "--retries", "0"];
    const { summary } = await crawl(cwd, args);
    expect(summary.counts).toMatchObject({ dead: 1, done: 0 });
    expect(site.log).toHaveLength(0);
    const { stdout } = await trawl(["dead", "--list", "--json"], { cwd });
    expect(stdout).toContain('"because":"proxy"');
  });

  it("never connects to a private address for a link, a redirect or a name", async () => {
    const [cwd, secret] = [newFolder(), await siteOf((_, response) => void response.end("internal"))];
    const { port } = new URL(secret.url);
    const site = await siteOf(({ url }, response) => {
      if (url === "/redirect") response.writeHead(302, { location: `http://127.0.0.9:${port}/` }).end();
      else
        response.end(linksTo("/redirect", `http://127.0.0.9:${port}/`, `http://localhost:${port}/`, "http://[::1]/"));
    });
    const proxies = [await proxyOf(), await proxyOf({ kind: "socks5" })];
    const list = proxies.flatMap(({ url }) => ["--proxy", url]);
    const { summary } = await crawl(cwd, [`${site.url}/`, ...list, "--scope", "any"]);
    expect(summary.counts).toMatchObject({ done: 2, dead: 3 });
    expect(new Set(proxies.flatMap(({ targets }) => targets))).toEqual(new Set([site.site]));
    expect(secret.log).toHaveLength(0);
  });
});

describe("the proxies of the environment", () => {
  it("are used if no others are set, are shown by doctor and in the log, and not used for this machine", async () => {
    const [cwd, proxy, site] = [newFolder(), await proxyOf(), await siteOf((_, response) => void response.end("ok"))];
    const url = proxy.url.replace("http://", "http://user:canary-9@");
    const env = { HTTP_PROXY: url, NO_PROXY: "internal.example", TRAWL_LOG_LEVEL: "info" };
    const end = await trawl(["crawl", `${site.url}/`, "--ignore-robots"], { cwd, env });
    expect([end.code, proxy.connections, site.log.length]).toEqual([0, 0, 1]);
    expect(end.stderr).toContain("exits.from_environment");
    const away = await trawl(["crawl", "http://93.184.216.34/", "--ignore-robots", "--retries", "0"], { cwd, env });
    expect(proxy.targets).toEqual(["93.184.216.34:80"]);
    const { stdout } = await trawl(["doctor", "--json"], { cwd, env });
    expect(stdout).toContain("HTTP_PROXY");
    const missing = await trawl(["doctor", "--json"], {
      cwd,
      env: { TRAWL_PROXIES: "http://u:env:NO_SUCH@h.example:1" },
    });
    expect(missing.stdout).toContain("env:NO_SUCH is not set");
    expect(end.stderr + away.stderr + stdout).not.toContain("canary-9");
  });
});

describe("a fleet with proxies", () => {
  it("keeps the rate of the site over all proxies and workers", async () => {
    const cwd = newFolder();
    const proxies = [await proxyOf(), await proxyOf({ kind: "socks5" }), await proxyOf({ address: "127.0.1.3" })];
    const { options, arrivals } = recordArrivals();
    const site = await linkedSite({ pages: 40 }, options);
    const env = { TRAWL_PROXIES: proxies.map(({ url }) => url).join(","), TRAWL_ALLOW_PRIVATE: "127.0.0.0/8" };
    await trawl(["submit", `${site.url}/`, "--follow", "a[href]", "--rate", "20/s", "--per-site", "2"], { cwd });
    const workers = [1, 2, 3].map(() => trawl(["worker", "--drain", "--quiet"], { cwd, env }));
    for (const { code } of await Promise.all(workers)) expect(code).toBe(0);
    expect(site.log).toHaveLength(41);
    expect(rateExcessMs(arrivals, 20)).toBeLessThanOrEqual(allowedExcessMs(20));
    expect(proxies.every(({ targets }) => targets.length > 0)).toBe(true);
  });
});

describe("the tiers of a job", () => {
  it("are used after blocks, and the costs are in the report of the job", async () => {
    const cwd = newFolder();
    const [dc, home] = [await proxyOf({ address: "127.0.1.1" }), await proxyOf({ address: "127.0.1.2" })];
    const site = await siteOf(({ socket, url }, response) => {
      if (socket.remoteAddress === dc.address) response.writeHead(403, { "cf-mitigated": "challenge" }).end();
      else response.end(url === "/" ? linksTo("/1", "/2", "/3") : "<h1>page</h1>");
    });
    const proxies = [
      { url: dc.url, tags: ["dc"], provider: "acme", cost: 1 },
      { url: home.url, tags: ["residential"], provider: "bee", cost: 8 },
    ];
    writeFileSync(join(cwd, "proxies.json"), JSON.stringify(proxies));
    const proxy = '{ "use": ["dc"], "then": ["residential"], "budget": 100 }';
    writeFileSync(join(cwd, "job.json"), `{ "urls": ["${site.url}/"], "follow": {}, "proxy": ${proxy} }`);

    const { summary } = await crawl(cwd, ["job.json"], { TRAWL_PROXIES: "proxies.json" });

    expect(summary.counts).toMatchObject({ done: 4, dead: 0 });
    expect(site.from.filter((from) => from === home.address)).toHaveLength(4);
    expect(summary).toMatchObject({ proxies: { budget: 100, providers: { bee: { requests: 4, cost: 32 } } } });
    const shown = lastJson<{ providers: { provider: string; requests: number; blocked: number; success: number }[] }>(
      await trawl(["proxies", "--json", "--proxies", "proxies.json"], { cwd }),
    );
    expect(shown.providers).toMatchObject([
      { provider: "acme", site: site.site, success: 0 },
      { provider: "bee", site: site.site, requests: 4, success: 1, blocked: 0 },
    ]);
    expect((await trawl(["proxies", "--proxies", "proxies.json"], { cwd })).stdout).toContain("acme");
  });
});

describe("the costs of a job", () => {
  it("are the same in the report, in trawl job as text and JSON, and in trawl proxies", async () => {
    const cwd = newFolder();
    const proxies = [await proxyOf({ address: "127.0.1.1" }), await proxyOf({ address: "127.0.1.2" })];
    const page = Buffer.alloc(100_000, "<p>page</p>");
    const site = await siteOf((_, response) => void response.end(page));
    const list = proxies.map(({ url }, nth) => ({ url, provider: `p${nth}`, cost: { request: 1, gb: 1_000 } }));
    writeFileSync(join(cwd, "proxies.json"), JSON.stringify(list));
    const urls = Array.from({ length: 8 }, (_, nth) => `${site.url}/${nth}`);
    writeFileSync(join(cwd, "job.json"), JSON.stringify({ urls }));
    const env = { TRAWL_PROXIES: "proxies.json" };

    const { end, summary } = await crawl(cwd, ["job.json"], env);

    type Costs = { requests: number; bytes: number; cost: number };
    const { id, proxies: spent } = summary as Summary & { proxies: Costs & { providers: Record<string, Costs> } };
    expect(end.code).toBe(0);
    expect(spent.requests).toBe(8);
    // The headers are less than 1,000 bytes.
    expect(spent.bytes).toBeGreaterThan(8 * page.length);
    expect(spent.bytes).toBeLessThan(8 * (page.length + 1_000));
    expect(spent.cost).toBeCloseTo(8 + spent.bytes / 1e6, 4);
    const { p0, p1 } = spent.providers as { p0: Costs; p1: Costs };
    expect([p0.requests + p1.requests, p0.bytes + p1.bytes]).toEqual([8, spent.bytes]);
    const shown = await trawl(["job", id], { cwd });
    expect(shown.stdout).toMatch(/^proxies\n +all: 8 requests, 8\d\d(\.\d)? KB, cost 8\.8\d*\n +p\d: \d request/m);
    expect(lastJson(await trawl(["job", id, "--json"], { cwd }))).toMatchObject({ proxies: spent });
    const figures = lastJson<{ providers: Costs[] }>(await trawl(["proxies", "--json"], { cwd, env }));
    expect(figures.providers.map(({ bytes }) => bytes)).toEqual([p0.bytes, p1.bytes]);
  });
});

describe("trawl proxies bench", () => {
  it("names the right winner for each of three targets", async () => {
    const cwd = newFolder();
    const proxies = await Promise.all([1, 2, 3].map((nth) => proxyOf({ address: `127.0.1.${nth}` })));
    const sites = await Promise.all(
      proxies.map(({ address }) =>
        siteOf(({ socket }, response) => {
          if (socket.remoteAddress !== address) response.writeHead(403);
          response.end("<h1>page</h1>");
        }),
      ),
    );
    const list = proxies.map(({ url }, nth) => ({ url, provider: `provider${nth}` }));
    writeFileSync(join(cwd, "proxies.json"), JSON.stringify(list));
    const args = ["proxies", "bench", ...sites.map(({ url }) => `${url}/`), "--proxies", "proxies.json"];
    const end = await trawl([...args, "--requests", "4", "--json"], { cwd, env: { TRAWL_RATE: "unlimited" } });
    const { targets } = lastJson<{ targets: { url: string; winner: { provider: string } }[] }>(end);
    expect(targets.map(({ winner }) => winner.provider)).toEqual(["provider0", "provider1", "provider2"]);
    // Interleaved: no proxy gets its second request before the others have had their first.
    const [first] = sites as [SeenSite];
    expect(first.from.slice(0, 6)).toEqual([1, 2, 3, 1, 2, 3].map((nth) => `127.0.1.${nth}`));
    const text = await trawl([...args, "--requests", "1"], { cwd, env: { TRAWL_RATE: "unlimited" } });
    expect([text.code, text.stdout]).toEqual([0, expect.stringContaining("use http://127.0.1.1:")]);
  });

  it("compares the prices per request and per GB with the size of the page, and leaves out blocked proxies", async () => {
    const cwd = newFolder();
    const [perGb, perRequest, dear] = [
      await proxyOf({ address: "127.0.1.1" }),
      await proxyOf({ address: "127.0.1.2" }),
      await proxyOf({ address: "127.0.1.3" }),
    ];
    const [small, large, guarded] = [
      await siteOf((_, response) => void response.end("<h1>page</h1>")),
      await siteOf((_, response) => void response.end(Buffer.alloc(100_000, "<p>page</p>"))),
      await siteOf(({ socket }, response) => {
        if (socket.remoteAddress !== dear.address) response.writeHead(403);
        response.end("<h1>page</h1>");
      }),
    ];
    const list = [
      { url: perGb.url, provider: "gb", cost: { request: 0.1, gb: 100_000 } },
      { url: perRequest.url, provider: "request", cost: 1 },
      { url: dear.url, provider: "dear", cost: 10 },
    ];
    writeFileSync(join(cwd, "proxies.json"), JSON.stringify(list));
    const targets = [small, large, guarded].map(({ url }) => `${url}/`);
    const end = await trawl(
      ["proxies", "bench", ...targets, "--proxies", "proxies.json", "--requests", "3", "--json"],
      {
        cwd,
        env: { TRAWL_RATE: "unlimited" },
      },
    );
    const results = lastJson<{ targets: { winner: { provider: string } }[] }>(end).targets;
    expect(results.map(({ winner }) => winner.provider)).toEqual(["gb", "request", "dear"]);
  });
});

describe("credentials of proxies", () => {
  it("are never shown: in debug logs, errors, dead letters, and the files of broker and store", async () => {
    const cwd = newFolder();
    const [locked, dead] = [await proxyOf({ username: "u", password: "right" }), await proxyOf()];
    dead.mode = "dead";
    const site = await siteOf((_, response) => void response.end("ok"));
    const list = [
      locked.url.replace("u:right", "u:canary-1"),
      dead.url.replace("http://", "http://u:canary-2@"),
      `http://127.0.0.1:1/?key=canary-3&url={url}`,
    ];
    const env = { TRAWL_PROXIES: list.join(","), TRAWL_LOG_LEVEL: "debug" };
    const shown: string[] = [];
    const run = async (...args: string[]) => {
      const end = await trawl(args, { cwd, env });
      shown.push(end.stdout, end.stderr);
    };
    await run("crawl", `${site.url}/`, "--ignore-robots", "--retries", "1", "--json");
    await run("try", `${site.url}/`);
    await run("dead", "--list", "--json");
    await run("doctor", "--json");
    await run("jobs", "--json");
    const wrong = await trawl(["crawl", `${site.url}/`, "--proxy", "http://u:canary-4@x.example/path"], { cwd });
    const missing = await trawl(["crawl", `${site.url}/`, "--proxy", "ftp://u:canary-5@x.example"], { cwd });
    shown.push(wrong.stderr, missing.stderr);
    expect([wrong.code, missing.code]).toEqual([2, 2]);

    const stored = filesBelow(join(cwd, ".trawl")).map((path) => readFileSync(path, "latin1"));
    const encoded = ["canary-1", "canary-2"].map((secret) => Buffer.from(`u:${secret}`).toString("base64"));
    for (const text of [...shown, ...stored]) {
      for (const canary of ["canary-", ...encoded]) expect(text).not.toContain(canary);
    }
    expect(site.log).toHaveLength(0);
  });
});

function filesBelow(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  return names.filter((path) => statSync(path).isFile());
}
