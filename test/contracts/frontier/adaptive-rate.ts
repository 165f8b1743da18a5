import { expect } from "vitest";
import { siteBackoffMs } from "../../../src/domain/backoff.ts";
import type { ReturnedTerm, SitePolicy, Term } from "../../../src/domain/politeness.ts";
import type { Grant, Settlement } from "../../../src/frontier/frontier.ts";
import type { SiteDetail } from "../../../src/frontier/frontier-admin.ts";
import { type AnyFrontier, type Broker, START_AT, type Suite } from "./backend.ts";
import { aJob, aRequest, grantsOf, oneGrant, returnedAfter, settleAll, submit, tasksAt } from "./makers.ts";

const BRISK: SitePolicy = { intervalMs: 100, burst: 1, perSite: 3 };
const ERRORS = { kind: "errors", percent: 18, error: "503" } as const;
const THROTTLED: Partial<Settlement> = {
  outcome: { kind: "retry", because: "throttled", status: 503 },
  site: { kind: "throttled", cause: "503" },
};

/** The slowdown of a site, its single broken pages, and its first request after a backoff (F2, F3). */
export function adaptiveRate(suite: Suite): void {
  slowdowns(suite);
  singlePages(suite);
  afterBackoff(suite);
}

function slowdowns({ open, test, testWith }: Suite): void {
  test("F2 the slowdown of a returned term applies to the next one, which has fewer tasks", async () => {
    const broker = await open();
    await submit(broker.frontier, aJob({ policy: BRISK }), tasksAt("a.test", 30));
    await returnSlowed(broker, 4);

    const { terms, grants } = await broker.frontier.lease(aRequest({ lookaheadMs: 100 }));

    expect(terms).toMatchObject([{ slowdown: 4, intervalMs: 100, startsAt: START_AT + 100 }]);
    expect(grants).toHaveLength(2);
    expect(await siteOf(broker.frontier)).toMatchObject({ slowdown: 4, slowdownCause: ERRORS });
  });

  test("F2 a slowdown keeps its cause until the full rate is back", async () => {
    const broker = await open();
    await submit(broker.frontier, aJob({ policy: BRISK }), tasksAt("a.test", 30));
    await returnSlowed(broker, 4);
    await returnSlowed(broker, 2, undefined);
    expect(await siteOf(broker.frontier)).toMatchObject({ slowdown: 2, slowdownCause: ERRORS });

    await returnSlowed(broker, 1, undefined);

    expect(await siteOf(broker.frontier)).toMatchObject({ slowdown: 1, slowdownCause: undefined });
  });

  test("F2 a slowdown is forgotten after 10 minutes without requests", async () => {
    const broker = await open();
    await submit(broker.frontier, aJob({ policy: BRISK }), tasksAt("a.test", 30));
    await returnSlowed(broker, 4);

    broker.clock.advanceTo(START_AT + 100 + 600_000);
    expect((await siteOf(broker.frontier)).slowdown).toBe(4);
    broker.clock.advance(1);

    expect((await siteOf(broker.frontier)).slowdown).toBe(1);
    expect(await broker.frontier.lease(aRequest())).toMatchObject({ terms: [{ slowdown: 1 }] });
  });

  testWith("sharing", "F3 a slowdown holds across processes and a restart", async ({ another }) => {
    const broker = await open();
    await submit(broker.frontier, aJob({ policy: BRISK }), tasksAt("a.test", 30));
    await returnSlowed(broker, 4);

    const frontier = await another(broker);

    expect(await frontier.lease(aRequest({ lookaheadMs: 100 }))).toMatchObject({ terms: [{ slowdown: 4 }] });
  });

  test("F16 explains the slowdown of a site", async () => {
    const broker = await open();
    await submit(broker.frontier, aJob({ policy: BRISK }), tasksAt("a.test", 30));
    await returnSlowed(broker, 4);

    const { reasons } = await broker.frontier.explain({ site: "a.test" });

    expect(reasons).toContain(
      "the site answered 18 % of the last requests with errors (503): the rate is lowered to 25 %, 2.5/s instead of 10/s",
    );
  });
}

function singlePages({ open, test, testWith }: Suite): void {
  test("F2 after three throttled responses between good ones, only their pages wait", async () => {
    const broker = await open();
    const { frontier } = broker;
    await submit(frontier, aJob(), tasksAt("a.test", 40));
    for (let nth = 0; nth < 3; nth++) {
      await settleAll(frontier, [await oneGrant(frontier)]);
      expect(await backoffAfter(broker)).toBe(siteBackoffMs(1));
      await settleAll(frontier, [await oneGrant(frontier)]);
    }
    expect(await backoffAfter(broker)).toBe(0);
    expect((await siteOf(frontier)).hasIsolatedErrors).toBe(true);
    expect((await frontier.explain({ site: "a.test" })).reasons).toContain(
      "429 and 503 come from single pages of the site: only these pages wait",
    );
    expect((await grantsOf(frontier)).length).toBeGreaterThan(10);
  });

  test("F2 two throttled responses in a row pause even such a site, for the requested time", async () => {
    const broker = await open();
    await submit(broker.frontier, aJob(), tasksAt("a.test", 40));
    await isolate(broker);
    expect(await backoffAfter(broker)).toBe(0);

    expect(await backoffAfter(broker, 7000)).toBe(7000);
  });

  test("F2 a site that only fails forgets its single pages", async () => {
    const broker = await open();
    await submit(broker.frontier, aJob(), tasksAt("a.test", 40));
    await isolate(broker);
    for (let nth = 0; nth < 8; nth++) await backoffAfter(broker);
    expect((await siteOf(broker.frontier)).hasIsolatedErrors).toBe(false);

    await settleAll(broker.frontier, [await oneGrant(broker.frontier)]);

    expect(await backoffAfter(broker)).toBe(siteBackoffMs(1));
  });

  test("F2 a retry that is throttled again does not pause the site, if its pages fail singly", async () => {
    const broker = await open();
    const { frontier, clock } = broker;
    await submit(frontier, aJob({ retries: { max: 9, backoffMs: 1000 } }), tasksAt("a.test", 4));
    await settleAll(frontier, [await oneGrant(frontier)]);
    await backoffAfter(broker);
    await settleAll(frontier, await grantsOf(frontier));
    await settleAll(frontier, await grantsOf(frontier));
    for (let attempt = 2; attempt <= 5; attempt++) {
      clock.advance(60_000);
      expect((await oneGrantOf(broker)).attempt).toBe(attempt);
      expect((await siteOf(frontier)).blockedUntil).toBeLessThanOrEqual(clock.now());
    }
  });

  test("F14 a page that waits alone waits as long as its Retry-After requires", async () => {
    const broker = await open();
    const { frontier, clock } = broker;
    await submit(frontier, aJob({ retries: { max: 9, backoffMs: 1 } }), tasksAt("a.test", 9));
    await isolate(broker);
    const [page, ...others] = await grantsOf(frontier);
    await settleAll(frontier, [page as Grant], {
      outcome: { kind: "retry", because: "throttled", status: 503, retryAfterMs: 30_000 },
      site: { kind: "throttled", cause: "503", retryAfterMs: 30_000 },
    });
    await settleAll(frontier, others);

    clock.advance(29_999);
    expect(await grantsOf(frontier)).toEqual([]);
    clock.advance(1);
    expect(await grantsOf(frontier)).toMatchObject([{ url: page?.url }]);
  });

  test("F2 a robots.txt that cannot be fetched always pauses the site", async () => {
    const broker = await open();
    const { frontier, clock } = broker;
    await submit(frontier, aJob(), tasksAt("a.test", 40));
    await isolate(broker);
    const site = { kind: "throttled", cause: "robots" } as const;
    await settleAll(frontier, [await oneGrant(frontier)], { ...THROTTLED, site });

    expect((await siteOf(frontier)).blockedUntil).toBeGreaterThan(clock.now());
  });

  testWith("sharing", "F3 another process knows that the errors belong to single pages", async ({ another }) => {
    const broker = await open();
    await submit(broker.frontier, aJob({ policy: BRISK }), tasksAt("a.test", 40));
    await broker.frontier.setSitePolicy("a.test", { intervalMs: 0, burst: 1, perSite: 9 });
    await isolate(broker);
    await broker.frontier.setSitePolicy("a.test", undefined);

    const frontier = await another(broker);

    const { terms } = await frontier.lease(aRequest());
    expect(terms).toMatchObject([{ throttling: { isolated: 3, isGood: true } }]);
  });
}

function afterBackoff({ open, test }: Suite): void {
  test("F2 after a backoff, a site gets one request at a time until a response is good", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 9));
    await settleAll(frontier, [await oneGrant(frontier)], THROTTLED);
    clock.advance(1000);

    const [probe, ...more] = await grantsOf(frontier);
    expect(more).toEqual([]);
    expect(await grantsOf(frontier, { worker: "other" })).toEqual([]);
    await settleAll(frontier, [probe as Grant], { site: { kind: "unknown" } });
    const [next, ...none] = await grantsOf(frontier);
    expect(none).toEqual([]);
    await settleAll(frontier, [next as Grant]);

    expect((await grantsOf(frontier)).length).toBeGreaterThan(1);
  });

  test("F2 after a backoff, a term has one task and allows one request", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ policy: BRISK }), tasksAt("a.test", 30));
    const { grants, terms } = await frontier.lease(aRequest({ max: 1 }));
    await settleAll(frontier, grants, THROTTLED);
    await frontier.returnTerms([returnedAfter(terms[0] as Term, [START_AT])]);
    clock.advance(1000);

    const probe = await frontier.lease(aRequest());
    expect([probe.grants.length, probe.terms[0]?.concurrent]).toEqual([1, 1]);
    expect((await frontier.explain({ site: "a.test" })).reasons).toContain(
      "after the backoff, the site gets one request at a time until a response is good",
    );
    await settleAll(frontier, probe.grants);
    const returned = [returnedAfter(probe.terms[0] as Term, [clock.now()])];

    const next = await frontier.lease(aRequest({ returned, lookaheadMs: 100 }));
    expect([next.grants.length, next.terms[0]?.concurrent]).toEqual([10, 3]);
  });
}

/** Opens a term, sends one request at its start, and returns it with a slowdown. */
async function returnSlowed(
  { frontier, clock }: Broker,
  slowdown: number,
  slowdownCause: ReturnedTerm["slowdownCause"] = slowdown === 4 ? ERRORS : undefined,
): Promise<void> {
  const { grants, terms } = await frontier.lease(aRequest({ max: 1, lookaheadMs: 100 }));
  const term = terms[0] as Term;
  clock.advanceTo(term.startsAt);
  await settleAll(frontier, grants);
  await frontier.returnTerms([{ ...returnedAfter(term, [term.startsAt]), slowdown, slowdownCause }]);
}

async function siteOf(frontier: AnyFrontier): Promise<SiteDetail> {
  return (await frontier.findSite("a.test")) as SiteDetail;
}

/** Makes the errors of the site isolated. The last response is good. */
async function isolate(broker: Broker): Promise<void> {
  for (let nth = 0; nth < 3; nth++) {
    await settleAll(broker.frontier, [await oneGrant(broker.frontier)]);
    await backoffAfter(broker);
  }
  await settleAll(broker.frontier, [await oneGrant(broker.frontier)]);
}

/** One more throttled response. Advances the clock to the end of the backoff, and returns its length. */
async function backoffAfter({ frontier, clock }: Broker, retryAfterMs?: number): Promise<number> {
  const site = { kind: "throttled", ...(retryAfterMs === undefined ? {} : { retryAfterMs }) } as const;
  await settleAll(frontier, [await oneGrant(frontier)], { ...THROTTLED, site });
  const { blockedUntil } = await siteOf(frontier);
  const backoffMs = Math.max(0, blockedUntil - clock.now());
  clock.advanceTo(blockedUntil);
  return backoffMs;
}

/** Grants one task and throttles it. */
async function oneGrantOf({ frontier }: Broker): Promise<Grant> {
  const grant = await oneGrant(frontier);
  await settleAll(frontier, [grant], THROTTLED);
  return grant;
}
