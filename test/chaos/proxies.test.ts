/** A fleet crawls sites through exits. Some exits are dead, slow or blocked. The sites check the requests. */
import { describe, expect, it, onTestFinished } from "vitest";
import { findRedisObstacle } from "../services/redis.ts";
import { startGateway, type TestGateway } from "../site/gateway.ts";
import { startProxy, type TestProxy } from "../site/proxy.ts";
import { countOf, openTrial, type Sites, startSites } from "./proxy-trial.ts";
import { SUSPENDED_MS } from "./rate-excess.ts";

const PER_SECOND = 4;
const SLOW_MS = 1_000;
const PASSWORD = "canary-password";

const obstacle = findRedisObstacle("redis-server");
if (obstacle !== undefined) console.warn(`SKIPPED: proxies of a fleet (${obstacle})`);

describe.skipIf(obstacle !== undefined)("3 worker processes on one Redis", () => {
  it("have a success of 99 % with 10 proxies: 3 dead, 2 slow, 1 blocked at one of 20 sites", async () => {
    const proxies = await Promise.all(Array.from({ length: 10 }, (_, nth) => proxyOf(nth)));
    const dead = proxies.slice(0, 3);
    const [deadFrom, slowFrom] = [addressesOf(dead), addressesOf(proxies.slice(3, 5))];
    const blockedFrom = addressesOf(proxies.slice(5, 6));
    for (const proxy of dead) await proxy.stopListening();
    // The delay is in the response: the response time does not include the time for connecting.
    const sites = await startSites(20, (site, from) => ({
      status: site === 0 && blockedFrom.includes(from) ? 403 : 200,
      delayMs: slowFrom.includes(from) ? SLOW_MS : 0,
    }));
    const trial = await openTrial(sites, {
      proxies: proxies.map(({ url }) => url.replace(PASSWORD, "env:PROXY_PASSWORD")),
      env: { PROXY_PASSWORD: PASSWORD },
      perSecond: PER_SECOND,
    });

    // Warm-up: 10 pages of each site.
    await trial.warmUp(10);
    const counts = { before: sites.requests().length };
    const end = await trial.measure(async () => {
      await sites.until(() => sites.requests().length >= counts.before + 300);
      await Promise.all(dead.map((proxy) => proxy.listenAgain()));
      const areUsed = () => deadFrom.every((address) => countOf(sites.requests(), [address]) >= 5);
      await sites.until(() => sites.requests().length >= counts.before + 1_000 && areUsed());
    });

    const measured = sites.requests().slice(counts.before);
    const worstExcessMs = Math.round(sites.worstExcessMs(PER_SECOND));
    const used = {
      slow: countOf(measured, slowFrom),
      revived: deadFrom.map((address) => countOf(measured, [address])),
    };
    console.log(JSON.stringify({ requests: measured.length, ...end, ...used, worstExcessMs }));
    expect(end.success).toBeGreaterThanOrEqual(0.99);
    expect(worstExcessMs).toBeLessThanOrEqual(SUSPENDED_MS);
    expectUsedElsewhere(sites, blockedFrom);
    expect(used.slow).toBeLessThan(measured.length / 10);
  }, 240_000);

  it("have a success of 99 % with 4 gateways: 1 dead, 1 blocked at one of 6 sites", async () => {
    const gateways = await Promise.all([1, 2, 3, 4].map(gatewayOf));
    const [dead, blocked] = gateways as [TestGateway, TestGateway];
    await dead.stopListening();
    const sites = await startSites(6, (site, from) => ({
      status: site === 0 && from === blocked.address ? 403 : 200,
      delayMs: 0,
    }));
    const trial = await openTrial(sites, {
      proxies: gateways.map(({ url }) => ({ gateway: url.replace(PASSWORD, "env:GATE_KEY"), provider: "gate" })),
      env: { GATE_KEY: PASSWORD },
      perSecond: PER_SECOND,
    });

    // Warm-up: 5 pages of each site.
    await trial.warmUp(5);
    const before = sites.requests().length;
    const end = await trial.measure(async () => {
      await sites.until(() => sites.requests().length >= before + 100);
      await dead.listenAgain();
      const isUsed = () => countOf(sites.requests(), [dead.address]) >= 5;
      await sites.until(() => sites.requests().length >= before + 300 && isUsed());
    });

    const measured = sites.requests().slice(before);
    const worstExcessMs = Math.round(sites.worstExcessMs(PER_SECOND));
    const revived = countOf(measured, [dead.address]);
    console.log(JSON.stringify({ requests: measured.length, ...end, revived, worstExcessMs }));
    expect(end.success).toBeGreaterThanOrEqual(0.99);
    expect(worstExcessMs).toBeLessThanOrEqual(SUSPENDED_MS);
    expectUsedElsewhere(sites, [blocked.address]);
  }, 240_000);
});

/** The exit that the first site blocks is used at every other site, and hardly at the first one. */
function expectUsedElsewhere(sites: Sites, blockedFrom: readonly string[]): void {
  const [guarded = 0, ...others] = sites.list.map(({ requests }) => countOf(requests, blockedFrom));
  expect(Math.min(...others)).toBeGreaterThan(0);
  // Each worker may need two requests to detect the block. After each ejection, one request tries the exit again.
  expect(guarded).toBeLessThanOrEqual(10);
}

async function gatewayOf(nth: number): Promise<TestGateway> {
  const gateway = await startGateway({ address: `127.0.1.${nth}`, key: PASSWORD });
  onTestFinished(() => gateway.stopListening());
  return gateway;
}

function addressesOf(proxies: readonly TestProxy[]): string[] {
  return proxies.map(({ address }) => address);
}

/** HTTP and SOCKS5 in turn, each with its own address and credentials. */
async function proxyOf(nth: number): Promise<TestProxy> {
  const kind = nth % 2 === 0 ? "http" : "socks5";
  const proxy = await startProxy({ kind, address: `127.0.1.${nth + 1}`, username: `user${nth}`, password: PASSWORD });
  onTestFinished(() => proxy.close());
  return proxy;
}
