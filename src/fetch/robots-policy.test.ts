import { afterEach, describe, expect, it } from "vitest";
import { createFakeClock, type FakeClock } from "../../test/contracts/fetcher/fake-clock.ts";
import { ANY_TIME, LIMITS } from "../../test/contracts/fetcher/harness.ts";
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
  it("is fetched by the one that is told to, and kept with its crawl-delay", async () => {
    const { server, site, kept, rulesAt, ask } = await setUp();
    const text = "User-agent: trawl\nDisallow: /private\nCrawl-delay: 2\nSitemap: https://a.test/map.xml\n";
    server.on("/robots.txt", always({ body: text }));

    const answer = await rulesAt("/page?x", ask());

    expect(verdicts(answer, server, "/page", "/private/x")).toEqual([true, false]);
    expect(answer).toMatchObject({ crawlDelayMs: 2_000, sitemaps: ["https://a.test/map.xml"] });
    expect(kept.get(site)).toEqual({
      file: { kind: "file", text, fetchedAt: 0, freshUntil: DAY_MS },
      crawlDelayMs: 2_000,
    });
    expect(server.requests.map(({ path }) => path)).toEqual(["/robots.txt"]);
  });

  it("is neither fetched nor looked up again while it is fresh", async () => {
    const { server, lookups, rulesAt, ask } = await setUp();
    server.on("/robots.txt", always({ body: "User-agent: *\nDisallow: /x" }));
    await rulesAt("/", ask());
    const before = lookups.length;
    for (let n = 0; n < 5; n++) expect(verdicts(await rulesAt("/"), server, "/x")).toEqual([false]);
    expect([server.requests.length, lookups.length]).toEqual([1, before]);
  });

  it("is taken from the frontier where another process has fetched it", async () => {
    const { server, site, kept, rulesAt, ask } = await setUp();
    const file = { kind: "file" as const, text: "User-agent: *\nDisallow: /x", fetchedAt: 0, freshUntil: 1_000 };
    kept.set(site, { file, crawlDelayMs: 0 });
    expect(verdicts(await rulesAt("/"), server, "/x", "/y")).toEqual([false, true]);
    expect(verdicts(await rulesAt("/", ask()), server, "/x")).toEqual([false]);
    expect(server.requests).toHaveLength(0);
  });

  it("may be old for those who are not told to ask, and is fetched anew by the one who is", async () => {
    const { server, clock, rulesAt, ask } = await setUp();
    server.on("/robots.txt", (socket) =>
      respond(socket, { body: `User-agent: *\nDisallow: /${server.requests.length}` }),
    );
    await rulesAt("/", ask());
    clock.advance(DAY_MS + 1);
    expect(verdicts(await rulesAt("/"), server, "/1", "/2")).toEqual([false, true]);
    expect(verdicts(await rulesAt("/", ask()), server, "/1", "/2")).toEqual([true, false]);
    expect(server.requests).toHaveLength(2);
  });

  it("is bought a slot for where nobody was told to ask and nobody has it", async () => {
    const { server, spent, site, rulesAt } = await setUp();
    await Promise.all([rulesAt("/a"), rulesAt("/b"), rulesAt("/c")]);
    expect(server.requests).toHaveLength(1);
    expect(spent).toEqual([site]);
  });

  it.each([400, 401, 403, 404, 410, 451])("allows everything when it is answered with %i", async (status) => {
    const { server, site, kept, rulesAt, ask } = await setUp();
    server.on("/robots.txt", always({ status, body: "User-agent: *\nDisallow: /" }));
    expect(verdicts(await rulesAt("/", ask()), server, "/", "/x")).toEqual([true, true]);
    expect(kept.get(site)).toMatchObject({ file: { kind: "absent", freshUntil: DAY_MS }, crawlDelayMs: 0 });
  });

  it.each([429, 500, 503, 599])("forbids everything for a while when it is answered with %i", async (status) => {
    const { server, site, kept, clock, rulesAt, ask } = await setUp();
    server.on("/robots.txt", always({ status }));
    const retryAfterMs = TEN_MINUTES_MS;
    expect(await rulesAt("/", ask())).toEqual({
      kind: "unreachable",
      detail: expect.stringContaining(String(status)),
      retryAfterMs,
    });
    expect(kept.get(site)).toMatchObject({ file: { kind: "unreachable", freshUntil: TEN_MINUTES_MS } });
    clock.advance(1_000);
    expect(await rulesAt("/")).toMatchObject({ kind: "unreachable", retryAfterMs: TEN_MINUTES_MS - 1_000 });
  });

  it("stays away as long as a Retry-After asks", async () => {
    const { server, rulesAt, ask } = await setUp();
    server.on("/robots.txt", always({ status: 503, headers: { "retry-after": "1800" } }));
    expect(await rulesAt("/", ask())).toMatchObject({ kind: "unreachable", retryAfterMs: 1_800_000 });
  });

  it.each<[string, string]>([
    ["the connection breaks", ""],
    ["the answer is not HTTP", "garbage\r\n\r\n"],
    ["the answer breaks off", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nUser-agent"],
  ])("forbids everything for a while when %s", async (_, raw) => {
    const { server, rulesAt, ask } = await setUp();
    server.on("/robots.txt", bytes(raw, { close: true }));
    expect(await rulesAt("/", ask())).toMatchObject({
      kind: "unreachable",
      detail: expect.stringContaining("could not be had"),
    });
  });

  it("speaks through its last copy, for up to 30 days, when it has become unreachable", async () => {
    const { server, site, kept, clock, rulesAt, ask } = await setUp();
    server.on("/robots.txt", always({ body: "User-agent: *\nDisallow: /x" }));
    await rulesAt("/", ask());
    server.on("/robots.txt", always({ status: 500 }));
    clock.advance(DAY_MS + 1);
    expect(verdicts(await rulesAt("/", ask()), server, "/x", "/y")).toEqual([false, true]);
    expect(kept.get(site)?.file).toMatchObject({ kind: "file", fetchedAt: 0, freshUntil: DAY_MS + 1 + TEN_MINUTES_MS });
    clock.advance(30 * DAY_MS);
    expect(await rulesAt("/", ask())).toMatchObject({ kind: "unreachable" });
  });

  it("is followed through five redirects, each paid for where it leads, and no further", async () => {
    const [home, other] = [await setUp(), await setUp()];
    const { server, spent, rulesAt, ask } = home;
    const chain = ["/robots.txt", "/1", "/2", "/3", "/4"];
    for (const [n, path] of chain.entries()) {
      const location = n === 4 ? `${other.server.origin}/robots.txt` : `/${n + 1}`;
      server.on(path, always({ status: 301, headers: { location } }));
    }
    other.server.on("/robots.txt", always({ body: "User-agent: *\nDisallow: /x" }));
    expect(verdicts(await rulesAt("/", ask()), server, "/x", "/y")).toEqual([false, true]);
    expect(spent).toEqual([...Array.from({ length: 4 }, () => home.site), other.site]);

    other.server.on("/robots.txt", always({ status: 302, headers: { location: "/again" } }));
    home.clock.advance(2 * DAY_MS);
    expect(verdicts(await rulesAt("/", ask()), server, "/x")).toEqual([true]);
    expect(other.server.requests.map(({ path }) => path)).toEqual(["/robots.txt", "/robots.txt"]);
  });

  it("is read up to its limit, without the rule that the limit cuts in two", async () => {
    const { server, rulesAt, ask } = await setUp({ limits: { ...LIMITS, bodyBytes: 1_000 } });
    const head = "User-agent: *\nDisallow: /early\n";
    const cut = `Disallow: /${"late".repeat(500)}\n`;
    server.on("/robots.txt", always({ body: head + cut }));
    expect(verdicts(await rulesAt("/", ask()), server, "/early", `/${"late".repeat(500)}`, "/")).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("says nothing about other hosts", async () => {
    const { server, rulesAt, ask } = await setUp();
    server.on("/robots.txt", always({ body: "User-agent: *\nDisallow: /" }));
    const answer = await rulesAt("/", ask());
    expect(answer.kind === "rules" && answer.allows("http://other.test/")).toBe(true);
  });

  it("has its crawl-delay cut to the longest that is kept", async () => {
    const { server, rulesAt, ask } = await setUp({ maxCrawlDelayMs: 5_000 });
    server.on("/robots.txt", always({ body: "User-agent: *\nCrawl-delay: 86400" }));
    expect(await rulesAt("/", ask())).toMatchObject({ crawlDelayMs: 5_000 });
  });

  it("lets the gate speak where the site may not be reached at all", async () => {
    const { server, rulesAt, ask } = await setUp({}, "");
    expect(await rulesAt("/", ask())).toMatchObject({ kind: "rules" });
    expect(server.connections).toHaveLength(0);
  });

  it("rejects for the task that is aborted, and is fetched by the other that waited for it", async () => {
    const { server, rulesAt, ask } = await setUp();
    const aborter = new AbortController();
    server.on("/robots.txt", (socket) => {
      if (server.requests.length > 1) respond(socket, { body: "User-agent: *\nDisallow: /x" });
    });
    const aborted = rulesAt("/", { ...ask(), signal: aborter.signal });
    await server.nextRequest();
    const patient = rulesAt("/");
    aborter.abort(new Error("enough"));
    await expect(aborted).rejects.toThrow("enough");
    expect(verdicts(await patient, server, "/x")).toEqual([false]);
  });
});

describe("where a site is a domain", () => {
  it("keeps each host's file apart, and tells the frontier that the site has been asked", async () => {
    const { server, kept, rulesAt, ask } = await setUp({ grouping: "domain" });
    const host = siteOf(`${server.origin}/`, "host");
    server.on("/robots.txt", always({ body: "User-agent: *\nDisallow: /x\nCrawl-delay: 1" }));
    expect(verdicts(await rulesAt("/", ask(), "a.test"), server, "/x")).toEqual([false]);
    expect(kept.get(`host:${host}`)).toMatchObject({ file: { kind: "file" }, crawlDelayMs: 1_000 });
    expect(kept.get("a.test")).toEqual({
      file: { kind: "file", text: "", fetchedAt: 0, freshUntil: DAY_MS },
      crawlDelayMs: 1_000,
    });
  });

  it("fetches a host's file anew when it is old, though nobody was told to", async () => {
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
  ask(): { slot: typeof ANY_TIME; signal: AbortSignal };
  rulesAt(path: string, ask?: ReturnType<SetUp["ask"]>, site?: string): Promise<RobotsAnswer>;
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
    async spend(site: string) {
      spent.push(site);
      return ANY_TIME;
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
    { fetcher, frontier, allowance, clock },
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
    ask: () => ({ slot: ANY_TIME, signal: new AbortController().signal }),
    rulesAt: (path, ask, ofSite = site) => policy.rulesAt(`${server.origin}${path}`, ofSite, ask),
  };
}

function verdicts(answer: RobotsAnswer, { origin }: MisbehavingServer, ...paths: string[]): boolean[] {
  if (answer.kind !== "rules") throw new Error(`no rules: ${answer.detail}`);
  return paths.map((path) => answer.allows(origin + path));
}
