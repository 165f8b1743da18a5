import { expect } from "vitest";
import { siteRestMs } from "../../../src/domain/backoff.ts";
import type { Settlement } from "../../../src/frontier/frontier.ts";
import { type Broker, START_AT, type Suite } from "./backend.ts";
import { aJob, aRequest, grantsOf, oneGrant, settleAll, submit, tasksAt } from "./makers.ts";

const RETRY: Settlement["outcome"] = { kind: "retry", because: "throttled", status: 429 };

/** A site that asks for less gets a rest (F2). */
export function siteRest({ open, test }: Suite): void {
  test("F2 rests a throttling site for as long as it asked for, and no other site", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), [...tasksAt("a.test", 2), ...tasksAt("b.test", 1)]);
    const grant = await oneGrant(frontier);
    await settleAll(frontier, [grant], { outcome: RETRY, site: { kind: "throttled", retryAfterMs: 30_000 } });

    expect((await grantsOf(frontier)).map(({ site }) => site)).toEqual(["b.test"]);
    expect(await frontier.lease(aRequest())).toEqual({ grants: [], nextDueAt: START_AT + 30_000 });
    clock.advance(29_999);
    expect(await grantsOf(frontier)).toEqual([]);
    clock.advance(1);
    expect(await grantsOf(frontier)).not.toEqual([]);
  });

  test("F2 rests a throttling site longer each time if it does not say for how long", async () => {
    const broker = await open();
    await submit(broker.frontier, aJob({ retries: { max: 100, backoffMs: 1 } }), tasksAt("a.test", 20));

    const rests = [];
    for (let nth = 0; nth < 4; nth++) rests.push(await restAfter(broker, { kind: "throttled" }));

    expect(rests).toEqual([1, 2, 3, 4].map(siteRestMs));
  });

  test("F2 forgets earlier incidents once the site has answered well again", async () => {
    const broker = await open();
    const { frontier } = broker;
    await submit(frontier, aJob({ retries: { max: 100, backoffMs: 1 } }), tasksAt("a.test", 20));
    await restAfter(broker, { kind: "throttled" });
    await restAfter(broker, { kind: "throttled" });
    await settleAll(frontier, [await oneGrant(frontier)], { site: { kind: "unknown" } });
    expect(await restAfter(broker, { kind: "throttled" })).toBe(siteRestMs(3));

    await settleAll(frontier, [await oneGrant(frontier)], { site: { kind: "ok" } });

    expect(await restAfter(broker, { kind: "throttled" })).toBe(siteRestMs(1));
  });

  test("F2 takes the answers to requests that were under way for the same incident", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 3));
    const grants = await grantsOf(frontier);

    await settleAll(frontier, grants, { outcome: RETRY, site: { kind: "throttled" } });

    expect((await frontier.listSites(1))[0]?.blockedUntil).toBe(START_AT + siteRestMs(1));
  });

  test("F2 lengthens a rest, and neither a shorter one nor a good answer under way ends it", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 5));
    const [one, two, three, four] = await grantsOf(frontier, { max: 4 });
    if (!one || !two || !three || !four) throw new Error("four are due");
    await settleAll(frontier, [one], { outcome: RETRY, site: { kind: "throttled", retryAfterMs: 5000 } });
    await settleAll(frontier, [two], { outcome: RETRY, site: { kind: "throttled", retryAfterMs: 9000 } });
    await settleAll(frontier, [three], { outcome: RETRY, site: { kind: "throttled", retryAfterMs: 100 } });
    await settleAll(frontier, [four], { site: { kind: "ok" } });

    expect((await frontier.listSites(1))[0]).toMatchObject({ blockedUntil: START_AT + 9000, readyAt: START_AT + 9000 });
    clock.advance(9000);
    const next = await oneGrant(frontier);
    await settleAll(frontier, [next], { outcome: RETRY, site: { kind: "throttled" } });
    expect((await frontier.listSites(1))[0]?.blockedUntil).toBe(clock.now() + siteRestMs(2));
  });

  test("F2 sells no request during a rest, but the first one after it", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    await settleAll(frontier, [await oneGrant(frontier)], { site: { kind: "throttled", retryAfterMs: 7000 } });

    expect((await frontier.spend("a.test")).sendAt).toBe(START_AT + 7000);
  });
}

/** How long a site rests after one more answer of that kind; then lets that time pass. */
async function restAfter({ frontier, clock }: Broker, site: Settlement["site"]): Promise<number> {
  const grant = await oneGrant(frontier);
  await settleAll(frontier, [grant], { outcome: RETRY, site });
  const { blockedUntil = 0 } = (await frontier.listSites(1))[0] ?? {};
  const restMs = blockedUntil - clock.now();
  clock.advanceTo(blockedUntil);
  return restMs;
}
