import { expect } from "vitest";
import { offlineSite } from "../../../src/domain/offline-site.ts";
import type { JobSiteView } from "../../../src/frontier/frontier-admin.ts";
import { type AnyFrontier, START_AT, type Suite } from "./backend.ts";
import { aJob, aTask, grantsOf, oneGrant, settleAll, settlementOf, submit, tasksAt, viewOf } from "./makers.ts";

const TALLY = { pages: 1, records: 2, invalid: 1, bytes: 100 };
const DEAD = { kind: "dead", because: "http_status", status: 404 } as const;

/** Counters of a job at each of its sites. They are exact, because each transaction updates them (F8, F10). */
export function jobSites({ open, test }: Suite): void {
  test("F10 a job's sites add up to its ledger and its tally", async () => {
    const { frontier, clock } = await open();
    await submit(frontier, aJob({ retries: { max: 0, backoffMs: 1000 } }), [
      ...tasksAt("b.test", 3),
      ...tasksAt("a.test", 4),
    ]);
    const grants = await grantsOf(frontier);
    const [done, dead, retried, ...rest] = grants.filter(({ site }) => site === "a.test");
    if (done === undefined || dead === undefined || retried === undefined) throw new Error("expected four due tasks");
    clock.advance(10);
    await frontier.settle([settlementOf(done, { tally: TALLY, discovered: tasksAt("c.test", 2) })]);
    clock.advance(10);
    await frontier.settle([
      settlementOf(dead, { outcome: DEAD }),
      settlementOf(retried, { outcome: { kind: "retry", because: "timeout" } }),
    ]);
    await frontier.release(rest);

    const blank = { done: 0, dead: 0, tally: { pages: 0, records: 0, invalid: 0, bytes: 0 }, blockedUntil: 0 };
    expect(await frontier.listJobSites("job", 10)).toEqual([
      { ...blank, site: "a.test", waiting: 1, inFlight: 0, done: 1, dead: 2, tally: TALLY, lastPageAt: START_AT + 10 },
      { ...blank, site: "b.test", waiting: 0, inFlight: 3, lastPageAt: undefined },
      { ...blank, site: "c.test", waiting: 2, inFlight: 0, lastPageAt: undefined },
    ]);
    await expectToAddUp(frontier);
  });

  test("F10 counts batches of successful pages without links at their own sites", async () => {
    const { frontier } = await open();
    await submit(
      frontier,
      aJob(),
      ["a.test", "b.test", "c.test"].flatMap((site) => tasksAt(site, 5)),
    );

    const grants = await grantsOf(frontier);
    await frontier.settle(grants.map((grant, nth) => settlementOf(grant, { tally: { ...TALLY, bytes: nth } })));

    const sites = await frontier.listJobSites("job", 10);
    expect(sites.map(({ site, done, tally }) => [site, done, tally.pages, tally.records])).toEqual([
      ["a.test", 5, 5, 10],
      ["b.test", 5, 5, 10],
      ["c.test", 5, 5, 10],
    ]);
    await expectToAddUp(frontier);
  });

  test("F7 a stale settlement counts nowhere, and a replayed letter is no longer dead", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    const grant = await oneGrant(frontier);
    await settleAll(frontier, [grant], { outcome: DEAD });
    expect(await frontier.settle([settlementOf(grant, { tally: TALLY })])).toMatchObject({ states: ["stale"] });
    expect(await frontier.listJobSites("job", 10)).toMatchObject([{ dead: 1, done: 0, tally: { pages: 0 } }]);

    await frontier.replayDead({}, 10, 100);

    expect(await frontier.listJobSites("job", 10)).toMatchObject([{ dead: 0, waiting: 1 }]);
    await settleAll(frontier, await grantsOf(frontier), { tally: TALLY });
    expect(await frontier.listJobSites("job", 10)).toMatchObject([{ dead: 0, waiting: 0, done: 1 }]);
    await expectToAddUp(frontier);
  });

  test("F10 counts parse tasks at the site of their page", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), [
      aTask("https://a.test/1"),
      aTask("https://a.test/2", { kind: "parse", queue: "parse", site: offlineSite("a.test") }),
    ]);
    expect(await frontier.listJobSites("job", 10)).toMatchObject([{ site: "a.test", waiting: 2 }]);

    await settleAll(frontier, await grantsOf(frontier, { queues: ["fetch", "parse"] }), { tally: TALLY });

    expect(await frontier.listJobSites("job", 10)).toMatchObject([{ site: "a.test", done: 2, tally: { pages: 2 } }]);
    await expectToAddUp(frontier);
  });

  test("F16 returns the end of a site's backoff", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 2));

    await settleAll(frontier, [await oneGrant(frontier)], {
      outcome: { kind: "retry", because: "throttled", status: 429 },
      site: { kind: "throttled", retryAfterMs: 5000 },
    });

    expect(await frontier.listJobSites("job", 10)).toMatchObject([{ waiting: 2, blockedUntil: START_AT + 5000 }]);
  });

  test("F17 lists the sites of a job by name, page by page, and none for an unknown job", async () => {
    const { frontier } = await open();
    const sites = Array.from({ length: 25 }, (_, nth) => `s${String(nth).padStart(2, "0")}.test`);
    await submit(
      frontier,
      aJob(),
      sites.toReversed().flatMap((site) => tasksAt(site, 1)),
    );
    await submit(frontier, aJob({ id: "other" }), tasksAt("s01x.test", 1));

    const listed: string[] = [];
    for (let after: string | undefined = ""; after !== undefined; ) {
      const page: readonly JobSiteView[] = await frontier.listJobSites("job", 10, after);
      listed.push(...page.map(({ site }) => site));
      after = page.length < 10 ? undefined : page.at(-1)?.site;
    }

    expect(listed).toEqual(sites);
    expect(await frontier.listJobSites("nope", 10)).toEqual([]);
  });

  test("F21 forgets the sites of a job", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("a.test", 1));
    await frontier.seal("job");
    await settleAll(frontier, await grantsOf(frontier));

    while ((await frontier.forgetJob("job", 100)) === "more");
    await frontier.createJob(aJob());

    expect(await frontier.listJobSites("job", 10)).toEqual([]);
  });
}

async function expectToAddUp(frontier: AnyFrontier): Promise<void> {
  const { counts, tally } = await viewOf(frontier);
  const sites = await frontier.listJobSites("job", 100);
  const sum = (of: (site: JobSiteView) => number) => sites.reduce((total, site) => total + of(site), 0);
  expect({
    waiting: sum(({ waiting }) => waiting),
    leased: sum(({ inFlight }) => inFlight),
    done: sum(({ done }) => done),
    dead: sum(({ dead }) => dead),
    ...Object.fromEntries(
      (["pages", "records", "invalid", "bytes"] as const).map((name) => [name, sum((site) => site.tally[name])]),
    ),
  }).toEqual({
    waiting: counts.queued + counts.delayed,
    leased: counts.leased,
    done: counts.done,
    dead: counts.dead,
    ...tally,
  });
}
