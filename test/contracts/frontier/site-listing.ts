import { expect } from "vitest";
import { offlineSite } from "../../../src/domain/offline-site.ts";
import type { SitePolicy } from "../../../src/domain/politeness.ts";
import { START_AT, type Suite } from "./backend.ts";
import { aJob, aTask, oneGrant, settleAll, submit, tasksAt } from "./makers.ts";

const SLOW: SitePolicy = { intervalMs: 60_000, burst: 1, perSite: 1 };

/** Listing sites: by part of the name, by waiting tasks, and single ones (F16). */
export function siteListing({ open, test }: Suite): void {
  test("F16 lists sites whose name contains a text, page by page", async () => {
    const { frontier } = await open();
    const sites = ["shop.b.test", "a.test", "shop.a.test", "shop.c.test"];
    await submit(
      frontier,
      aJob(),
      sites.map((site) => aTask(`https://${site}/`)),
    );

    const names = async (limit: number, after?: string) =>
      (await frontier.listSites(limit, after, "shop")).map(({ site }) => site);
    expect(await names(2)).toEqual(["shop.a.test", "shop.b.test"]);
    expect(await names(2, "shop.b.test")).toEqual(["shop.c.test"]);
    expect(await frontier.listSites(9, "", "%")).toEqual([]);
  });

  test("F16 lists sites with waiting tasks, most waiting first", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob(), tasksAt("none.test", 1));
    await oneGrant(frontier);
    const counts = { "many.test": 7, "also.test": 3, "as.test": 3 };
    await submit(
      frontier,
      aJob({ id: "more" }),
      Object.entries(counts).flatMap(([site, count]) => tasksAt(site, count)),
    );

    const names = async (limit: number, part?: string) =>
      (await frontier.listBusySites(limit, part)).map(({ site, waiting }) => [site, waiting]);
    expect(await names(9)).toEqual([
      ["many.test", 7],
      ["also.test", 3],
      ["as.test", 3],
    ]);
    expect(await names(2)).toEqual([
      ["many.test", 7],
      ["also.test", 3],
    ]);
    expect(await names(1, "as.")).toEqual([["as.test", 3]]);
  });

  test("F16 returns the policy of a site, its jobs, and the policy of each job", async () => {
    const { frontier } = await open();
    await submit(frontier, aJob({ id: "slow", name: "Slow", policy: SLOW }), tasksAt("a.test", 2));
    const grant = await oneGrant(frontier);
    const rules = { "a.test": { intervalMs: 500, burst: 2, perSite: 3 } };
    await submit(frontier, aJob({ id: "many", name: "Many", sites: rules }), [
      ...Array.from({ length: 4 }, (_, nth) => aTask(`https://a.test/many/${nth}`)),
      aTask("https://b.test/"),
    ]);
    await frontier.pause("many");
    await submit(frontier, aJob({ id: "elsewhere" }), tasksAt("c.test", 1));

    expect(await frontier.findSite("a.test")).toMatchObject({
      ...{ site: "a.test", policy: SLOW, waiting: 5, inFlight: 1, incidents: 0, isFetchingRobots: false },
      operator: undefined,
      jobs: [
        { jobId: "many", name: "Many", state: "paused", waiting: 4, inFlight: 0, policy: rules["a.test"] },
        { jobId: "slow", name: "Slow", state: "running", waiting: 1, inFlight: 1, policy: SLOW },
      ],
    });

    const operator = { intervalMs: 100, burst: 1, perSite: 9 };
    await frontier.setSitePolicy("a.test", operator);
    await settleAll(frontier, [grant], {
      outcome: { kind: "retry", because: "throttled", status: 429 },
      site: { kind: "throttled", retryAfterMs: 9000 },
    });

    expect(await frontier.findSite("a.test")).toMatchObject({
      ...{ policy: operator, operator, incidents: 1, blockedUntil: START_AT + 9000, waiting: 6 },
    });
    expect(await frontier.findSite("nowhere.test")).toBeUndefined();
  });

  test("F16 lists a site and its offline site separately", async () => {
    const { frontier } = await open();
    const site = offlineSite("a.test");
    await submit(frontier, aJob(), [
      aTask("https://a.test/"),
      { ...aTask("https://a.test/1"), site, queue: "parse" },
      { ...aTask("https://a.test/2"), site, queue: "parse" },
    ]);

    const waitingOf = async (name: string) => (await frontier.findSite(name))?.jobs.map(({ waiting }) => waiting);
    expect(await waitingOf("a.test")).toEqual([1]);
    expect(await waitingOf(site)).toEqual([2]);
  });
}
