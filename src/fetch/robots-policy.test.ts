import { afterEach, describe, expect, it } from "vitest";
import { createFakeClock, type FakeClock } from "../../test/contracts/fetcher/fake-clock.ts";
import { LIMITS, UNPACED } from "../../test/contracts/fetcher/harness.ts";
import {
  always,
  bytes,
  type MisbehavingServer,
  respond,
  startMisbehavingServer,
} from "../../test/contracts/fetcher/misbehaving-server.ts";
import { siteOf } from "../domain/site.ts";
import type { RobotsFile } from "../frontier/frontier.ts";
import { parseNetworks } from "./egress/address.ts";
import { createEgressGate } from "./egress/gate.ts";
import { createHttpFetcher } from "./http/http-fetcher.ts";
import type { RobotsAnswer } from "./robots.ts";
import { createRobotsPolicy, type RobotsPolicyOptions } from "./robots-policy.ts";

const DAY_MS = 24 * 3_600_000;
const TEN_MINUTES_MS = 600_000;

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe("a site's robots.txt", () => {
  it("is fetched by the task that the frontier chose, and stored with its crawl-delay", async () => {
    const { server, site, kept, rulesAt, terms } = await setUp();
    const text = "User-agent: trawl\nDisallow: /private\nCrawl-delay: 2\nSitemap: https://a.test/map.xml\n";
    server.on("/robots.txt", always({ body: text }));

    const answer = await rulesAt("/page?x", terms());

    expect(verdicts(answer, server, "/page", "/private/x")).toEqual([true, false]);
    expect(answer).toMatchObject({ crawlDelayMs: 2_000, sitemaps: ["https://a.test/map.xml"] });
    expect(kept.get(site)).toEqual({
      file: { kind: "file", text, fetchedAt: 0, freshUntil: DAY_MS },
      crawlDelayMs: 2_000,
    });
    expect(server.requests.map(({ path }) => path)).toEqual(["/robots.txt"]);
  });

  it("is neither fetched again nor read from the frontier while the cached copy is fresh", async () => {
    const { server, lookups, rulesAt, terms } = await setUp();
    server.on("/robots.txt", always({ body: "User-agent: *\nDisallow: /x" }));
    await rulesAt("/", terms());
    const before = lookups.length;
    for (let n = 0; n < 5; n++) expect(verdicts(await rulesAt("/"), server, "/x")).toEqual([false]);
    expect([server.requests.length, lookups.length]).toEqual([1, before]);
  });

  it("is read from the frontier if another process has fetched it", async () => {
    const { server, site, kept, rulesAt, terms } = await setUp();
    const file = { kind: "file" as const, text: "User-agent: *\nDisallow: /x", fetchedAt: 0, freshUntil: 1_000 };
    kept.set(site, { file, crawlDelayMs: 0 });
    expect(verdicts(await rulesAt("/"), server, "/x", "/y")).toEqual([false, true]);
    expect(verdicts(await rulesAt("/", terms()), server, "/x")).toEqual([false]);
    expect(server.requests).toHaveLength(0);
  });

  it("may be old for most tasks, and is fetched again by the task that the frontier chose", async () => {
    const { server, clock, rulesAt, terms } = await setUp();
    server.on("/robots.txt", (socket) =>
      respond(socket, { body: `User-agent: *\nDisallow: /${server.requests.length}` }),
    );
    await rulesAt("/", terms());
    clock.advance(DAY_MS + 1);
    expect(verdicts(await rulesAt("/"), server, "/1", "/2")).toEqual([false, true]);
    expect(verdicts(await rulesAt("/", terms()), server, "/1", "/2")).toEqual([true, false]);
    expect(server.requests).toHaveLength(2);
  });

  it("is fetched in a turn of its own if it is unknown and the frontier chose no task to fetch it", async () => {
    const { server, spent, site, rulesAt } = await setUp();
    await Promise.all([rulesAt("/a"), rulesAt("/b"), rulesAt("/c")]);
    expect(server.requests).toHaveLength(1);
    expect(spent).toEqual([site]);
  });

  it.each([400, 401, 403, 404, 410, 451])("allows everything if its status is %i", async (status) => {
    const { server, site, kept, rulesAt, terms } = await setUp();
    server.on("/robots.txt", always({ status, body: "User-agent: *\nDisallow: /" }));
    expect(verdicts(await rulesAt("/", terms()), server, "/", "/x")).toEqual([true, true]);
    expect(kept.get(site)).toMatchObject({ file: { kind: "absent", freshUntil: DAY_MS }, crawlDelayMs: 0 });
  });

  it.each([429, 500, 503, 599])("forbids everything temporarily if its status is %i", async (status) => {
    const { server, site, kept, clock, rulesAt, terms } = await setUp();
    server.on("/robots.txt", always({ status }));
    const retryAfterMs = TEN_MINUTES_MS;
    expect(await rulesAt("/", terms())).toEqual({
      kind: "unreachable",
      detail: expect.stringContaining(String(status)),
      retryAfterMs,
    });
    expect(kept.get(site)).toMatchObject({ file: { kind: "unreachable", freshUntil: TEN_MINUTES_MS } });
    clock.advance(1_000);
    expect(await rulesAt("/")).toMatchObject({ kind: "unreachable", retryAfterMs: TEN_MINUTES_MS - 1_000 });
  });

  it("forbids everything for the time in Retry-After", async () => {
    const { server, rulesAt, terms } = await setUp();
    server.on("/robots.txt", always({ status: 503, headers: { "retry-after": "1800" } }));
    expect(await rulesAt("/", terms())).toMatchObject({ kind: "unreachable", retryAfterMs: 1_800_000 });
  });

  it.each<[string, string]>([
    ["the connection breaks", ""],
    ["the answer is not HTTP", "garbage\r\n\r\n"],
    ["the answer is incomplete", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nUser-agent"],
  ])("forbids everything temporarily if %s", async (_, raw) => {
    const { server, rulesAt, terms } = await setUp();
    server.on("/robots.txt", bytes(raw, { close: true }));
    expect(await rulesAt("/", terms())).toMatchObject({
      kind: "unreachable",
      detail: expect.stringContaining("could not be fetched"),
    });
  });

  it("is replaced by its last copy for up to 30 days if it becomes unreachable", async () => {
    const { server, site, kept, clock, rulesAt, terms } = await setUp();
    server.on("/robots.txt", always({ body: "User-agent: *\nDisallow: /x" }));
    await rulesAt("/", terms());
    server.on("/robots.txt", always({ status: 500 }));
    clock.advance(DAY_MS + 1);
    expect(verdicts(await rulesAt("/", terms()), server, "/x", "/y")).toEqual([false, true]);
    expect(kept.get(site)?.file).toMatchObject({ kind: "file", fetchedAt: 0, freshUntil: DAY_MS + 1 + TEN_MINUTES_MS });
    clock.advance(30 * DAY_MS);
    expect(await rulesAt("/", terms())).toMatchObject({ kind: "unreachable" });
  });

  it("is followed through at most five redirects, each in a turn of the target site", async () => {
    const [own, other] = [await setUp(), await setUp()];
    const { server, spent, rulesAt, terms } = own;
    const chain = ["/robots.txt", "/1", "/2", "/3", "/4"];
    for (const [n, path] of chain.entries()) {
      const location = n === 4 ? `${other.server.origin}/robots.txt` : `/${n + 1}`;
      server.on(path, always({ status: 301, headers: { location } }));
    }
    other.server.on("/robots.txt", always({ body: "User-agent: *\nDisallow: /x" }));
    expect(verdicts(await rulesAt("/", terms()), server, "/x", "/y")).toEqual([false, true]);
    expect(spent).toEqual([...Array.from({ length: 5 }, () => own.site), other.site]);

    other.server.on("/robots.txt", always({ status: 302, headers: { location: "/again" } }));
    own.clock.advance(2 * DAY_MS);
    expect(verdicts(await rulesAt("/", terms()), server, "/x")).toEqual([true]);
    expect(other.server.requests.map(({ path }) => path)).toEqual(["/robots.txt", "/robots.txt"]);
  });

  it("is read up to the size limit, without the rule that the limit truncates", async () => {
    const { server, rulesAt, terms } = await setUp({ limits: { ...LIMITS, bodyBytes: 1_000 } });
    const head = "User-agent: *\nDisallow: /early\n";
    const cut = `Disallow: /${"late".repeat(500)}\n`;
    server.on("/robots.txt", always({ body: head + cut }));
    expect(verdicts(await rulesAt("/", terms()), server, "/early", `/${"late".repeat(500)}`, "/")).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("does not apply to other hosts", async () => {
    const { server, rulesAt, terms } = await setUp();
    server.on("/robots.txt", always({ body: "User-agent: *\nDisallow: /" }));
    const answer = await rulesAt("/", terms());
    expect(answer.kind === "rules" && answer.allows("http://other.test/")).toBe(true);
  });

  it("has its crawl-delay limited to the maximum", async () => {
    const { server, rulesAt, terms } = await setUp({ maxCrawlDelayMs: 5_000 });
    server.on("/robots.txt", always({ body: "User-agent: *\nCrawl-delay: 86400" }));
    expect(await rulesAt("/", terms())).toMatchObject({ crawlDelayMs: 5_000 });
  });

  it("allows everything if the egress gate refuses the site, because the gate refuses the page too", async () => {
    const { server, rulesAt, terms } = await setUp({}, "");
    expect(await rulesAt("/", terms())).toMatchObject({ kind: "rules" });
    expect(server.connections).toHaveLength(0);
  });

  it("rejects for a task that is aborted, and is then fetched by the task that waited for it", async () => {
    const { server, rulesAt, terms } = await setUp();
    const aborter = new AbortController();
    server.on("/robots.txt", (socket) => {
      if (server.requests.length > 1) respond(socket, { body: "User-agent: *\nDisallow: /x" });
    });
    const aborted = rulesAt("/", { ...terms(), signal: aborter.signal });
    await server.nextRequest();
    const waiting = rulesAt("/");
    aborter.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    expect(verdicts(await waiting, server, "/x")).toEqual([false]);
  });
});

describe("if a site is a domain", () => {
  it("stores the file of each host separately, and records in the frontier that the site was checked", async () => {
    const { server, kept, rulesAt, terms } = await setUp({ grouping: "domain" });
    const host = siteOf(`${server.origin}/`, "host");
    server.on("/robots.txt", always({ body: "User-agent: *\nDisallow: /x\nCrawl-delay: 1" }));
    expect(verdicts(await rulesAt("/", terms(), "a.test"), server, "/x")).toEqual([false]);
    expect(kept.get(`host:${host}`)).toMatchObject({ file: { kind: "file" }, crawlDelayMs: 1_000 });
    expect(kept.get("a.test")).toEqual({
      file: { kind: "file", text: "", fetchedAt: 0, freshUntil: DAY_MS },
      crawlDelayMs: 1_000,
    });
  });

  it("fetches an old file of a host again, even if the frontier chose no task to fetch it", async () => {
    const { server, clock, spent, rulesAt } = await setUp({ grouping: "domain" });
    await rulesAt("/", undefined, "a.test");
    await rulesAt("/", undefined, "a.test");
    expect(server.requests).toHaveLength(1);
    clock.advance(DAY_MS + 1);
    await rulesAt("/", undefined, "a.test");
    expect(server.requests).toHaveLength(2);
    expect(spent).toEqual(["a.test", "a.test"]);
  });
});

type SetUp = {
  server: MisbehavingServer;
  site: string;
  clock: FakeClock;
  kept: Map<string, { file: RobotsFile; crawlDelayMs: number }>;
  lookups: string[];
  spent: string[];
  terms(): { signal: AbortSignal };
  rulesAt(path: string, terms?: ReturnType<SetUp["terms"]>, site?: string): Promise<RobotsAnswer>;
};

async function setUp(options: Partial<RobotsPolicyOptions> = {}, networks = "127.0.0.0/8"): Promise<SetUp> {
  const server = await startMisbehavingServer();
  const clock = createFakeClock(0);
  const kept: SetUp["kept"] = new Map();
  const lookups: string[] = [];
  const spent: string[] = [];
  const gate = createEgressGate(
    {},
    { allowNetworks: parseNetworks(networks).networks, allowHosts: [], connectMs: 5_000 },
  );
  const allowance = {
    ...UNPACED,
    trySend(site: string) {
      spent.push(site);
      return true;
    },
  };
  const fetcher = createHttpFetcher(
    { gate, allowance, clock },
    { userAgent: "Trawl/test", connectionsPerSite: 2, keepAliveMs: 60_000 },
  );
  cleanups.push(server.close, fetcher.close);
  const frontier = {
    async findRobots(site: string) {
      lookups.push(site);
      return kept.get(site)?.file;
    },
    async keepRobots(site: string, file: RobotsFile, crawlDelayMs: number) {
      kept.set(site, { file, crawlDelayMs });
    },
  };
  const policy = createRobotsPolicy(
    { fetcher, frontier, clock },
    {
      productToken: "trawl",
      grouping: "host",
      freshMs: DAY_MS,
      unreachableMs: TEN_MINUTES_MS,
      maxCrawlDelayMs: 60_000,
      maxRedirects: 5,
      limits: LIMITS,
      ...options,
    },
  );
  const site = siteOf(`${server.origin}/`, "host");
  return {
    server,
    site,
    clock,
    kept,
    lookups,
    spent,
    terms: () => ({ signal: new AbortController().signal }),
    rulesAt: (path, terms, ofSite = site) => policy.rulesAt(`${server.origin}${path}`, ofSite, terms),
  };
}

function verdicts(answer: RobotsAnswer, { origin }: MisbehavingServer, ...paths: string[]): boolean[] {
  if (answer.kind !== "rules") throw new Error(`no rules: ${answer.detail}`);
  return paths.map((path) => answer.allows(origin + path));
}
