import { expect } from "vitest";
import { offlineSite } from "../../../src/domain/offline-site.ts";
import type { RobotsFile } from "../../../src/frontier/frontier.ts";
import { START_AT, type Suite } from "./backend.ts";
import {
  aJob,
  aRequest,
  aTask,
  drain,
  grantsOf,
  oneGrant,
  returnedAfter,
  settleAll,
  submit,
  tasksAt,
  UNLIMITED,
} from "./makers.ts";

/** robots.txt is fetched once for all workers, and its crawl-delay is obeyed (F2). */
export function robots({ open, test }: Suite): void {
  const job = aJob({ robots: true });

  test("F2 one task of a site fetches robots.txt, and the others wait for it", async () => {
    const { frontier } = await open();
    await submit(frontier, job, [
      ...tasksAt("a.test", 3),
      aTask("https://a.test/urgent", { queue: "high", priority: 0 }),
    ]);

    const grants = await grantsOf(frontier, { queues: ["high", "fetch"] });
    expect(grants.map(({ mustFetchRobots }) => mustFetchRobots)).toEqual([true]);
    expect(await grantsOf(frontier)).toEqual([]);

    await frontier.keepRobots("a.test", aFile(), 0);
    const others = await grantsOf(frontier);
    expect(others.map(({ mustFetchRobots }) => mustFetchRobots)).toEqual([false, false, false]);
  });

  test("F2 fetches robots.txt once per site, and not for jobs that ignore it", async () => {
    const { frontier } = await open();
    await submit(frontier, job, [...tasksAt("a.test", 2), ...tasksAt("b.test", 2)]);
    await submit(frontier, aJob({ id: "rude" }), tasksAt("c.test", 2));

    const grants = (await grantsOf(frontier)).map(({ site, mustFetchRobots }) => `${site} ${mustFetchRobots}`);

    expect(grants.sort()).toEqual(["a.test true", "b.test true", "c.test false", "c.test false"]);
  });

  test("F2 an offline site has no limits and no robots.txt, whatever the policy of the job", async () => {
    const { frontier } = await open();
    const strict = { policy: { intervalMs: 60_000, burst: 1, perSite: 1 }, sites: {}, robots: true };
    const offline = tasksAt("a.test", 3, { site: offlineSite("a.test"), kind: "parse", queue: "parse" });
    await submit(frontier, aJob({ ...strict, id: "one" }), offline);
    await submit(frontier, aJob({ ...strict, id: "two" }), [...offline, aTask("https://a.test/page")]);
    await frontier.setPolicy("two", { intervalMs: 30_000, burst: 1, perSite: 1 });

    const parsing = await grantsOf(frontier, { queues: ["parse"] });

    expect(parsing.map(({ jobId, mustFetchRobots }) => `${jobId} ${mustFetchRobots}`).sort()).toEqual(
      ["one", "one", "one", "two", "two", "two"].map((id) => `${id} false`),
    );
    expect((await grantsOf(frontier)).map(({ mustFetchRobots }) => mustFetchRobots)).toEqual([true]);
    const explained = await frontier.explain({ site: offlineSite("a.test") });
    expect(explained.reasons[0]).toBe("a request to the site is allowed now");
  });

  test("F2 another task fetches robots.txt if the first ended without it", async () => {
    const { frontier } = await open();
    await submit(frontier, job, tasksAt("a.test", 5));

    await settleAll(frontier, [await oneGrant(frontier)], { outcome: { kind: "retry", because: "timeout" } });
    const second = await oneGrant(frontier, { worker: "doomed" });
    expect(second.mustFetchRobots).toBe(true);
    await frontier.abandon("doomed");
    const third = await oneGrant(frontier);
    expect(third.mustFetchRobots).toBe(true);
    await frontier.release([third]);
    expect((await oneGrant(frontier)).mustFetchRobots).toBe(true);
  });

  test("F2 no other task fetches robots.txt until the lease of the first has ended", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, job, tasksAt("a.test", 3));
    const first = await oneGrant(frontier, { leaseMs: 5000 });

    expect(await frontier.lease(aRequest())).toEqual({ grants: [], terms: [], nextDueAt: undefined });
    clock.advance(4000);
    expect(await frontier.extend([first], 5000)).toEqual([true]);
    clock.advance(4000);
    await frontier.reap(10);
    expect(await grantsOf(frontier)).toEqual([]);
    clock.advance(1000);
    await frontier.reap(10);
    expect((await oneGrant(frontier)).mustFetchRobots).toBe(true);
  });

  test("F2 fetches robots.txt again when it is no longer fresh", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, job, tasksAt("a.test", 3));
    expect((await oneGrant(frontier, { leaseMs: 60_000 })).mustFetchRobots).toBe(true);
    await frontier.keepRobots("a.test", aFile({ freshUntil: START_AT + 1000 }), 0);
    expect((await oneGrant(frontier)).mustFetchRobots).toBe(false);

    clock.advance(1000);

    expect((await oneGrant(frontier)).mustFetchRobots).toBe(true);
  });

  test("F2 returns robots.txt as it was stored", async () => {
    const { frontier } = await open();
    expect(await frontier.findRobots("a.test")).toBeUndefined();
    const file = aFile({ text: "User-agent: *\nDisallow: /private" });

    await frontier.keepRobots("a.test", file, 0);
    expect(await frontier.findRobots("a.test")).toEqual(file);

    await frontier.keepRobots("a.test", aFile({ kind: "unreachable", text: "" }), 0);
    expect(await frontier.findRobots("a.test")).toMatchObject({ kind: "unreachable" });
    expect(await frontier.findRobots("b.test")).toBeUndefined();
  });

  test("F2 keeps the crawl-delay between any two requests, starting with that for robots.txt", async () => {
    const broker = await open();
    const { frontier } = broker;
    const policy = { intervalMs: 100, burst: 3, perSite: 5 };
    await submit(frontier, aJob({ robots: true, policy }), tasksAt("a.test", 4));
    const { grants, terms } = await frontier.lease(aRequest());
    expect(grants).toHaveLength(1);
    await frontier.keepRobots("a.test", aFile(), 2000);
    await settleAll(frontier, grants);
    await frontier.returnTerms(terms.map((term) => returnedAfter(term, [START_AT])));

    const sends = (await drain(broker)).map(({ sentAt }) => sentAt - START_AT);

    expect(sends).toEqual([2000, 4000, 6000]);
  });

  test("F2 applies the stricter of rate and crawl-delay", async () => {
    const { frontier } = await open();
    await submit(
      frontier,
      aJob({ robots: true, policy: { intervalMs: 3000, burst: 1, perSite: 5 } }),
      tasksAt("a.test", 1),
    );

    await frontier.keepRobots("a.test", aFile(), 2000);

    expect((await frontier.listSites(1))[0]).toMatchObject({
      crawlDelayMs: 2000,
      policy: { intervalMs: 3000, burst: 1 },
    });
  });

  test("F2 ignores the crawl-delay for jobs that ignore robots.txt", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));

    await frontier.keepRobots("a.test", aFile(), 2000);

    expect((await frontier.listSites(1))[0]?.policy).toEqual(UNLIMITED);
  });
}

function aFile(parts: Partial<RobotsFile> = {}): RobotsFile {
  return { kind: "file", text: "User-agent: *", fetchedAt: START_AT, freshUntil: START_AT + 86_400_000, ...parts };
}
