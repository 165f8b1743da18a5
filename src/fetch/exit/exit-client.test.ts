import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { requestFor, UNPACED } from "../../../test/contracts/fetcher/harness.ts";
import { createManualClock } from "../../../test/model/manual-clock.ts";
import { exitsFrom } from "../../../test/site/exits.ts";
import { type Handler, type Origin, startOrigin } from "../../../test/site/origin.ts";
import { type ProxyOptions, startProxy, type TestProxy } from "../../../test/site/proxy.ts";
import { DEFAULT_EXIT_RULES, type Exit, type ExitRules } from "../../domain/exit.ts";
import type { Frontier } from "../../frontier/frontier.ts";
import { openSqliteFrontier } from "../../frontier/sqlite/open.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import { parseNetworks } from "../egress/address.ts";
import { createEgressGate } from "../egress/gate.ts";
import type { FetchOutcome, FetchRequest } from "../fetcher.ts";
import type { HttpAnswer } from "../http/http-client.ts";
import { createHttpFetcher } from "../http/http-fetcher.ts";
import type { TransportFailure } from "../http/transport-error.ts";
import { createExitClient } from "./exit-client.ts";
import { NO_HEALTH } from "./health.ts";
import { createHealthBoard, type HealthBoard } from "./health-board.ts";
import { readAllHealth } from "./health-codec.ts";
import { createSpending, readSpending, type Spending } from "./spending.ts";

const JOB = "j1";

describe("3 workers with 20 sites and 10 proxies: 3 dead, 2 slow, 1 blocked at one site", () => {
  it("has a success of 99 % after warm-up, and takes a dead proxy back when it returns", async () => {
    const proxies = await Promise.all(
      Array.from({ length: 10 }, (_, nth) =>
        proxyOf({
          kind: nth % 2 === 0 ? "http" : "socks5",
          address: `127.0.1.${nth + 1}`,
          ...{ username: `user${nth}`, password: `secret${nth}` },
        }),
      ),
    );
    const [first, second, third, slow, slower, blocked] = proxies as [TestProxy, TestProxy, TestProxy, ...TestProxy[]];
    for (const proxy of [first, second, third]) proxy.mode = "dead";
    // The delay is in the response: the response time does not include the time for connecting.
    const delayFor = (from: string | undefined) => (from === slow?.address || from === slower?.address ? 1_000 : 0);
    const guarded = await siteOf((from) => (from === blocked?.address ? 403 : 200), delayFor);
    const others = await Promise.all(Array.from({ length: 19 }, () => siteOf(() => 200, delayFor)));
    const sites = [guarded, ...others];
    const fleet = await openFleet({ exits: exitsFrom(proxies.map(({ url }) => url)), workers: 3 });

    // No retries of tasks: each request counts as it ends.
    const round = async (requests: number) => {
      const outcomes: FetchOutcome[] = [];
      for (let sent = 0; sent < requests; sent++) {
        const batch = sites.map((site, nth) => fleet.fetch((sent + nth) % 3, `${site.url}/${sent}`));
        outcomes.push(...(await Promise.all(batch)));
      }
      return outcomes;
    };
    await round(10);
    await fleet.flush();
    const warm = { deadTries: first.connections + second.connections + third.connections };
    const seenBefore = guarded.from.length;
    const outcomes = await round(25);
    await fleet.flush();

    const successes = outcomes.filter(({ kind }) => kind === "page").length;
    expect(successes / outcomes.length).toBeGreaterThanOrEqual(0.99);
    // The blocked one is used at the other sites, and hardly at the site that blocks it.
    expect(others.every(({ from }) => from.includes(blocked?.address))).toBe(true);
    const blockedTries = guarded.from.slice(seenBefore).filter((from) => from === blocked?.address).length;
    expect(blockedTries).toBeLessThanOrEqual(3);
    // Ejected ones are not tried for every request.
    const deadTries = first.connections + second.connections + third.connections - warm.deadTries;
    expect(deadTries).toBeLessThan(outcomes.length / 10);
    const slowShare = sites.flatMap(({ from }) => from).filter((from) => from === slow?.address).length;
    expect(slowShare).toBeLessThan(sites.flatMap(({ from }) => from).length / 10);

    first.mode = "works";
    fleet.passTime(10 * 60_000);
    await round(20);
    expect(sites.flatMap(({ from }) => from)).toContain(first.address);
    expect(sites.flatMap(({ from }) => from)).not.toContain(second.address);
  }, 60_000);
});

describe("the exit of a request", () => {
  it("is another one if a proxy fails, in the same attempt and without a request to the site", async () => {
    const [dead, good] = [await proxyOf({ address: "127.0.1.1" }), await proxyOf({ address: "127.0.1.2" })];
    dead.mode = "dead";
    const site = await siteOf(() => 200);
    const fleet = await openFleet({ exits: exitsFrom([dead.url, good.url]) });
    const outcomes = [await fleet.fetch(0, `${site.url}/1`), await fleet.fetch(0, `${site.url}/2`)];
    expect(outcomes.map(({ kind }) => kind)).toEqual(["page", "page"]);
    expect(site.from).toEqual(["127.0.1.2", "127.0.1.2"]);
  });

  it("is one of the next tier after a block, within the budget of the whole fleet", async () => {
    const [dc, home] = [await proxyOf({ address: "127.0.1.1" }), await proxyOf({ address: "127.0.1.2" })];
    const site = await siteOf((from) => (from === dc.address ? 403 : 200));
    const exits = exitsFrom([
      { url: dc.url, tags: ["dc"], provider: "acme", cost: 1 },
      { url: home.url, tags: ["residential"], provider: "bee", cost: 8 },
    ]);
    const fleet = await openFleet({ exits, workers: 2 });
    const rules: ExitRules = { ...DEFAULT_EXIT_RULES, use: ["dc"], fallbacks: ["residential"], budget: 3 };

    const outcomes: FetchOutcome[] = [];
    for (let sent = 0; sent < 6; sent++) outcomes.push(await fleet.fetch(sent % 2, `${site.url}/${sent}`, rules));
    await fleet.flush();

    expect(outcomes.map(({ kind }) => kind)).toEqual(["page", "page", "page", "retry", "retry", "retry"]);
    expect(outcomes.at(-1)).toMatchObject({
      because: "blocked",
      status: 403,
      detail: expect.stringMatching(/status 403/),
    });
    expect(site.from.filter((from) => from === home.address)).toHaveLength(3);
    const spent = await readSpending(fleet.frontier, JOB);
    expect(spent).toMatchObject({ taken: 3, providers: { bee: { requests: 3, cost: 24 } } });
    expect(spent?.providers.acme?.requests).toBe(site.from.length - 3);
  });

  it("goes straight to the next tier while all of the first are ejected for blocks", async () => {
    const [dc, home] = [await proxyOf({ address: "127.0.1.1" }), await proxyOf({ address: "127.0.1.2" })];
    const site = await siteOf((from) => (from === dc.address ? 403 : 200));
    const exits = exitsFrom([
      { url: dc.url, tags: ["dc"] },
      { url: home.url, tags: ["residential"] },
    ]);
    const fleet = await openFleet({ exits });
    const rules: ExitRules = { ...DEFAULT_EXIT_RULES, use: ["dc"], fallbacks: ["residential"] };
    for (let sent = 0; sent < 6; sent++) await fleet.fetch(0, `${site.url}/${sent}`, rules);
    expect(site.from.filter((from) => from === dc.address)).toHaveLength(2);
    expect(site.from.filter((from) => from === home.address)).toHaveLength(6);
  });

  it("stays the same at a site with rotate: site, and changes with every request by default", async () => {
    const proxies = await Promise.all([1, 2, 3, 4].map((nth) => proxyOf({ address: `127.0.1.${nth}` })));
    const sites = await Promise.all([1, 2, 3, 4, 5, 6].map(() => siteOf(() => 200)));
    const fleet = await openFleet({ exits: exitsFrom(proxies.map(({ url }) => url)) });
    for (const site of sites) {
      for (let sent = 0; sent < 4; sent++)
        await fleet.fetch(0, `${site.url}/`, { ...DEFAULT_EXIT_RULES, rotate: "site" });
      expect(new Set(site.from).size).toBe(1);
    }
    expect(new Set(sites.flatMap(({ from }) => from)).size).toBeGreaterThan(1);
    const [rotated] = sites as [SeenSite];
    rotated.from.length = 0;
    for (let sent = 0; sent < 8; sent++) await fleet.fetch(0, `${rotated.url}/`);
    expect(new Set(rotated.from).size).toBe(4);
  });

  it("is never direct if the job names proxies that this worker does not have", async () => {
    const [site, proxy] = [await siteOf(() => 200), await proxyOf({})];
    const rules = { ...DEFAULT_EXIT_RULES, use: ["residential"] };
    const outcomes = [
      await (await openFleet({ exits: [] })).fetch(0, `${site.url}/`, rules),
      await (await openFleet({ exits: exitsFrom([{ url: proxy.url, tags: ["dc"] }]) })).fetch(0, `${site.url}/`, rules),
    ];
    expect(outcomes[0]).toMatchObject({ because: "proxy", detail: expect.stringContaining("it has no proxies") });
    expect(outcomes[1]).toMatchObject({ because: "proxy", detail: expect.stringContaining("have the tags dc") });
    expect(site.log).toHaveLength(0);
  });

  it("is direct for a job that uses none", async () => {
    const [site, proxy] = [await siteOf(() => 200), await proxyOf({ address: "127.0.1.1" })];
    const fleet = await openFleet({ exits: exitsFrom([proxy.url]) });
    expect(await fleet.fetch(0, `${site.url}/`, "none")).toMatchObject({ kind: "page" });
    expect([site.from, proxy.connections]).toEqual([["127.0.0.1"], 0]);
  });

  it("does not repeat a request that may change data after a block", async () => {
    const [one, two] = [await proxyOf({}), await proxyOf({ address: "127.0.1.2" })];
    const site = await siteOf(() => 403);
    const fleet = await openFleet({ exits: exitsFrom([one.url, two.url]) });
    const more = { method: "POST", body: "a=1", mayRepeat: false } as const;
    expect(await fleet.fetch(0, `${site.url}/`, DEFAULT_EXIT_RULES, more)).toMatchObject({ because: "blocked" });
    expect(site.log).toHaveLength(1);
  });
});

describe("the health of exits", () => {
  it("is known to other workers after a flush, and costs no call of the broker per request", async () => {
    const [dead, good] = [await proxyOf({ address: "127.0.1.1" }), await proxyOf({ address: "127.0.1.2" })];
    dead.mode = "dead";
    const site = await siteOf(() => 200);
    const fleet = await openFleet({ exits: exitsFrom([dead.url, good.url]), workers: 2 });

    for (let sent = 0; sent < 20; sent++) await fleet.fetch(0, `${site.url}/${sent}`);
    const callsBefore = fleet.calls();
    await fleet.flush();
    const tries = dead.connections;
    for (let sent = 0; sent < 20; sent++) await fleet.fetch(1, `${site.url}/${sent}`);
    await fleet.flush();

    expect(tries).toBe(2);
    expect(dead.connections).toBe(tries);
    expect(callsBefore).toBeLessThanOrEqual(4);
    const all = await readAllHealth(fleet.frontier);
    expect([...all.keys()]).toEqual(["*", new URL(site.url).host]);
    const counted = [...(all.get(new URL(site.url).host)?.values() ?? [])].map(({ requests, ok }) => [requests, ok]);
    expect(counted).toEqual([[40, 40]]);
  });
});

describe("status 407", () => {
  it("is that of the site in a tunnel, so that a site cannot eject proxies", async () => {
    const proxies = [
      await proxyOf({ address: "127.0.1.1" }),
      await proxyOf({ address: "127.0.1.2", kind: "socks5" }),
    ] as const;
    const site = await siteOf(() => 407);
    const fleet = await openFleet({ exits: exitsFrom(proxies.map(({ url }) => url)) });
    for (let sent = 0; sent < 4; sent++) {
      expect(await fleet.fetch(0, `${site.url}/${sent}`)).toMatchObject({ status: 407 });
    }
    await fleet.flush();
    expect(site.from).toHaveLength(4);
    const health = [...((await readAllHealth(fleet.frontier)).get("*")?.values() ?? [])];
    expect(health.map(({ ok, streak, ejections }) => [ok, streak, ejections])).toEqual([
      [2, 0, 0],
      [2, 0, 0],
    ]);
  });

  it("is that of a proxy that forwards the request: another proxy is used if the request may be repeated", async () => {
    const refusing = await proxyOf({ address: "127.0.1.1", username: "user", password: "right" });
    const good = await proxyOf({ address: "127.0.1.2" });
    const site = await siteOf(() => 200);
    const exits = exitsFrom([{ url: refusing.url.replace("right", "wrong"), resolve: "proxy" }, good.url]);
    const post = { method: "POST", body: "a=1", mayRepeat: false } as const;
    const first = await openFleet({ exits });
    expect(await first.fetch(0, `${site.url}/`, DEFAULT_EXIT_RULES, post)).toMatchObject({ because: "proxy" });
    expect([site.from, refusing.refused]).toEqual([[], 1]);
    const second = await openFleet({ exits });
    expect(await second.fetch(0, `${site.url}/`)).toMatchObject({ kind: "page" });
    expect([site.from, refusing.refused]).toEqual([["127.0.1.2"], 2]);
  });
});

describe("the recorded result", () => {
  /** A request for https://s.test/ without headers and body. */
  const SENT_BYTES = "https://s.test/".length;
  const answer: HttpAnswer = {
    ...{ kind: "answer", status: 200, headers: {}, body: Buffer.from(""), isCut: false },
    ...{ sentAt: 60_000, endedAt: 60_250, receivedBytes: 0 },
  };

  it("has the response time without the wait for the turn at the site", async () => {
    expect(await recordedFor(answer)).toEqual([
      { site: "s.test", kind: "ok", tookMs: 250, bytes: SENT_BYTES, cost: 1 },
      { site: "*", kind: "ok", tookMs: 250, bytes: SENT_BYTES, cost: 1 },
    ]);
  });

  it("has the bytes of the request and the response as received, and their price", async () => {
    const received = { ...answer, headers: { etag: "abc" }, receivedBytes: 1_000_000 };
    const bytes = SENT_BYTES + "etag: abc\r\n".length + 1_000_000;
    expect((await recordedFor(received, { request: 2, gb: 4 }))[0]).toMatchObject({ bytes, cost: 2 + bytes * 4e-9 });
    const cut = { kind: "dead", because: "too_big", detail: "over limits.bodyBytes", receivedBytes: 500_000 } as const;
    expect((await recordedFor(cut))[0]).toMatchObject({ bytes: SENT_BYTES + 500_000 });
  });

  it.each([
    { kind: "dead", because: "egress_refused", detail: "a private address" },
    { kind: "retry", because: "dns", detail: "the host name did not resolve" },
  ] as const)("does not exist for $because, because the proxy was not contacted", async (failure) => {
    expect(await recordedFor(failure)).toEqual([]);
  });
});

/** What the exit client records if the HTTP client returns this result. */
async function recordedFor(result: HttpAnswer | TransportFailure, cost: unknown = 1) {
  const recorded: object[] = [];
  const nothing = async () => {};
  const client = createExitClient({
    client: { send: async () => result, close: nothing },
    exits: exitsFrom([{ url: "http://p.test:1", cost }]),
    isDirect: () => false,
    board: {
      load: () => undefined,
      healthAt: () => NO_HEALTH,
      record: (site, _, row) => recorded.push({ site, ...row }),
      ...{ flush: nothing, close: nothing },
    },
    spending: { mayUse: async () => true, record: () => {}, flush: nothing, close: nothing },
    clock: createManualClock(0),
    random: () => 0.5,
  });
  const { headers, limits, signal } = requestFor("https://s.test/");
  const exits = { rules: DEFAULT_EXIT_RULES, jobId: JOB };
  await client.send({ url: "https://s.test/", site: "s.test", headers, limits, overflow: "cut", signal, exits });
  return recorded;
}

type SeenSite = Origin & { from: (string | undefined)[] };

/** A site that answers by the address that a request comes from. */
async function siteOf(
  statusFor: (from: string | undefined) => number,
  delayFor: (from: string | undefined) => number = () => 0,
): Promise<SeenSite> {
  const from: (string | undefined)[] = [];
  const handler: Handler = ({ socket }, response) => {
    from.push(socket.remoteAddress);
    const answer = () =>
      response.writeHead(statusFor(socket.remoteAddress), { "content-type": "text/html" }).end("<h1>page</h1>");
    const delayMs = delayFor(socket.remoteAddress);
    if (delayMs === 0) answer();
    else setTimeout(answer, delayMs);
  };
  const site = await startOrigin(handler);
  onTestFinished(() => site.close());
  return Object.assign(site, { from });
}

async function proxyOf(options: ProxyOptions): Promise<TestProxy> {
  const proxy = await startProxy(options);
  onTestFinished(() => proxy.close());
  return proxy;
}

type Fleet = {
  frontier: Frontier;
  fetch(worker: number, url: string, rules?: ExitRules | "none", more?: Partial<FetchRequest>): Promise<FetchOutcome>;
  flush(): Promise<void>;
  passTime(ms: number): void;
  /** Calls of the broker for shared values so far. */
  calls(): number;
};

/** Workers with one broker. Their boards write only when the test asks for it. */
async function openFleet({ exits, workers = 1 }: { exits: readonly Exit[]; workers?: number }): Promise<Fleet> {
  const folder = mkdtempSync(join(tmpdir(), "trawl-exits-"));
  const log = createLog("silent", () => {});
  let passedMs = 0;
  let calls = 0;
  const system = systemClock();
  const clock: Clock = {
    now: () => system.now() + passedMs,
    sleep: (_, signal) => new Promise((resolve) => signal?.addEventListener("abort", () => resolve())),
  };
  const frontier = openSqliteFrontier(join(folder, "broker.db"), { clock }, BROKER);
  onTestFinished(async () => {
    await frontier.close();
    rmSync(folder, { recursive: true });
  });
  const values: Pick<Frontier, "findValue" | "keepValue"> = {
    findValue(key) {
      calls++;
      return frontier.findValue(key);
    },
    keepValue(...call) {
      calls++;
      return frontier.keepValue(...call);
    },
  };
  const boards: (HealthBoard | Spending)[] = [];
  const fetchers = Array.from({ length: workers }, () => {
    const allowNetworks = parseNetworks("127.0.0.0/8").networks;
    const gate = createEgressGate({}, { allowNetworks, allowHosts: [], connectMs: 5_000 });
    const board = createHealthBoard({ values, clock, log }, { flushMs: 1_000, maxSites: 100, flushSites: 100 });
    const spending = createSpending({ values, clock, log }, { flushMs: 1_000 });
    boards.push(board, spending);
    const own = { exits, isDirect: () => false, board, spending, random: () => 0.5 };
    const options = { userAgent: "Test", connectionsPerSite: 10, keepAliveMs: 1_000 };
    return createHttpFetcher({ gate, allowance: UNPACED, clock, exits: own }, options);
  });
  onTestFinished(async () => void (await Promise.all(fetchers.map((fetcher) => fetcher.close()))));
  return {
    frontier,
    fetch: async (worker, url, rules = DEFAULT_EXIT_RULES, more = {}) => {
      const use = rules === "none" ? rules : { rules, jobId: JOB };
      return (await fetchers[worker]?.fetch({ ...requestFor(url), exits: use, ...more })) as FetchOutcome;
    },
    flush: async () => {
      for (const board of boards) await board.flush();
    },
    passTime: (ms) => {
      passedMs += ms;
    },
    calls: () => calls,
  };
}

const BROKER = { maxPending: 1_000, busyMs: 5_000, pollMs: 50 };
