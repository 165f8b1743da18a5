import { expect } from "vitest";
import { siteBackoffMs } from "../../../src/domain/backoff.ts";
import type { Settlement } from "../../../src/frontier/frontier.ts";
import { type Broker, START_AT, type Suite } from "./backend.ts";
import { aJob, aRequest, grantsOf, oneGrant, settleAll, submit, tasksAt } from "./makers.ts";

const RETRY: Settlement["outcome"] = { kind: "retry", because: "throttled", status: 429 };

/** Backoff of a site that answers 429 or 503 (F2). */
export function siteBackoff({ open, test }: Suite): void {
  test("F2 blocks a throttling site for the requested time, and no other site", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), [...tasksAt("a.test", 2), ...tasksAt("b.test", 1)]);
    const grant = await oneGrant(frontier);
    await settleAll(frontier, [grant], { outcome: RETRY, site: { kind: "throttled", retryAfterMs: 30_000 } });

    expect((await grantsOf(frontier)).map(({ site }) => site)).toEqual(["b.test"]);
    expect(await frontier.lease(aRequest())).toEqual({ grants: [], terms: [], nextDueAt: START_AT + 30_000 });
    clock.advance(29_999);
    expect(await grantsOf(frontier)).toEqual([]);
    clock.advance(1);
    expect(await grantsOf(frontier)).not.toEqual([]);
  });

  test("F2 doubles the backoff of a site that requests no time", async () => {
    const broker = await open();
    await submit(broker.frontier, aJob({ retries: { max: 100, backoffMs: 1 } }), tasksAt("a.test", 20));

    const backoffs = [];
    for (let nth = 0; nth < 4; nth++) backoffs.push(await backoffAfter(broker, { kind: "throttled" }));

    expect(backoffs).toEqual([1, 2, 3, 4].map(siteBackoffMs));
  });

  test("F2 resets the backoff after a good response", async () => {
    const broker = await open();
    const { frontier } = broker;
    await submit(frontier, aJob({ retries: { max: 100, backoffMs: 1 } }), tasksAt("a.test", 20));
    await backoffAfter(broker, { kind: "throttled" });
    await backoffAfter(broker, { kind: "throttled" });
    await settleAll(frontier, [await oneGrant(frontier)], { site: { kind: "unknown" } });
    expect(await backoffAfter(broker, { kind: "throttled" })).toBe(siteBackoffMs(3));

    await settleAll(frontier, [await oneGrant(frontier)], { site: { kind: "ok" } });

    expect(await backoffAfter(broker, { kind: "throttled" })).toBe(siteBackoffMs(1));
  });

  test("F2 counts responses to requests in flight as the same incident", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 3));
    const grants = await grantsOf(frontier);

    await settleAll(frontier, grants, { outcome: RETRY, site: { kind: "throttled" } });

    expect((await frontier.listSites(1))[0]?.blockedUntil).toBe(START_AT + siteBackoffMs(1));
  });

  test("F2 extends a backoff; neither a shorter one nor a good response in flight ends it", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 5));
    const [one, two, three, four] = await grantsOf(frontier, { max: 4 });
    if (!one || !two || !three || !four) throw new Error("expected four due tasks");
    await settleAll(frontier, [one], { outcome: RETRY, site: { kind: "throttled", retryAfterMs: 5000 } });
    await settleAll(frontier, [two], { outcome: RETRY, site: { kind: "throttled", retryAfterMs: 9000 } });
    await settleAll(frontier, [three], { outcome: RETRY, site: { kind: "throttled", retryAfterMs: 100 } });
    await settleAll(frontier, [four], { site: { kind: "ok" } });

    expect((await frontier.listSites(1))[0]).toMatchObject({ blockedUntil: START_AT + 9000, readyAt: START_AT + 9000 });
    clock.advance(9000);
    const next = await oneGrant(frontier);
    await settleAll(frontier, [next], { outcome: RETRY, site: { kind: "throttled" } });
    expect((await frontier.listSites(1))[0]?.blockedUntil).toBe(clock.now() + siteBackoffMs(2));
  });

  test("F2 a term that is opened during a backoff starts when the backoff ends", async () => {
    const { frontier } = await open();
    const policy = { intervalMs: 100, burst: 1, perSite: 5 };
    await submit(frontier, aJob({ policy }), tasksAt("a.test", 1));
    await settleAll(frontier, [await oneGrant(frontier)], { site: { kind: "throttled", retryAfterMs: 7000 } });

    const request = { worker: "worker", site: "a.test", returned: undefined };
    expect(await frontier.openTerm(request)).toMatchObject({ startsAt: START_AT + 7000 });
  });
}

/** Returns the backoff after one more settlement with `site`, and advances the clock to its end. */
async function backoffAfter({ frontier, clock }: Broker, site: Settlement["site"]): Promise<number> {
  const grant = await oneGrant(frontier);
  await settleAll(frontier, [grant], { outcome: RETRY, site });
  const { blockedUntil = 0 } = (await frontier.listSites(1))[0] ?? {};
  const backoffMs = blockedUntil - clock.now();
  clock.advanceTo(blockedUntil);
  return backoffMs;
}
