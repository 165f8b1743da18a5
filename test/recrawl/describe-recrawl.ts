/** Recrawls on every store, checked by the log of the site and by the records. */
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type ChangingPage, type ChangingSite, startChangingSite } from "./changing-site.ts";
import { openWorld, type World } from "./world.ts";

const PAGES: Record<string, ChangingPage> = {
  "/": { title: "home", links: ["/a", "/b", "/c"] },
  "/a": { title: "a", by: "weak" },
  "/b": { title: "b", by: "date", links: ["/d"] },
  "/c": { title: "c", by: "nothing" },
  "/d": { title: "d" },
};

export function describeRecrawl(name: string, settings: () => Record<string, unknown>): void {
  describe(`a recrawl on ${name}`, () => {
    let site: ChangingSite;
    let world: World;
    beforeEach(async () => {
      site = await startChangingSite(PAGES);
      onTestFinished(() => site.origin.close());
      world = await openWorld(settings());
    });
    const crawl = (emit: "all" | "changed") => world.crawl({ urls: [site.url], recrawl: { set: "s", emit } });
    const statuses = () => Object.fromEntries(site.takeVisits().map(({ path, status }) => [path, status]));

    it("sends the validators of the site, and reuses records and links of unchanged pages", async () => {
      const first = await crawl("all");
      const before = site.takeVisits();
      const second = await crawl("all");
      const after = site.takeVisits();

      expect(before.map(({ etag, since }) => etag ?? since)).toEqual(before.map(() => undefined));
      expect(after.map(({ path }) => path).sort()).toEqual(Object.keys(PAGES).sort());
      expect(Object.fromEntries(after.map(({ path, status }) => [path, status]))).toEqual({
        ...{ "/": 304, "/a": 304, "/b": 304, "/c": 200, "/d": 304 },
      });
      expect(after.find(({ path }) => path === "/a")).toMatchObject({ etag: expect.stringMatching(/^W\/"/) });
      expect(after.find(({ path }) => path === "/b")).toMatchObject({
        etag: undefined,
        since: expect.stringMatching(/GMT$/),
      });
      expect(after.find(({ path }) => path === "/c")).toMatchObject({ etag: undefined, since: undefined });
      const bytes = (visits: typeof after) => visits.reduce((sum, visit) => sum + visit.bytes, 0);
      expect(bytes(after)).toBeLessThan(bytes(before) / 4);
      expect(second.job.tally).toMatchObject({ pages: 5, records: 5, bytes: bytes(after) });
      expect(second.titles).toEqual(["a", "b", "c", "d", "home"]);
      expect(first.pages.map(({ unchanged }) => unchanged)).toEqual([false, false, false, false, false]);
      expect(second.pages.map(({ unchanged }) => unchanged)).toEqual([true, true, true, true, true]);
      expect(await world.trawl.store.countUnchanged(second.job.id)).toBe(5);
    });

    it("emits exactly new and changed pages, and pages that return after they were gone", async () => {
      expect((await crawl("changed")).titles).toEqual(["a", "b", "c", "d", "home"]);
      expect(await crawl("changed")).toMatchObject({ titles: [], job: { tally: { pages: 5, records: 0 } } });

      site.pages.set("/b", { title: "b2", by: "date", links: ["/d", "/new"] });
      site.pages.set("/c", { title: "c2", by: "nothing" });
      site.pages.set("/new", { title: "new" });
      site.pages.delete("/d");
      site.takeVisits();
      expect(await crawl("changed")).toMatchObject({ titles: ["b2", "c2", "new"], dead: ["/d 404"] });
      expect(statuses()).toEqual({ "/": 304, "/a": 304, "/b": 200, "/c": 200, "/new": 200, "/d": 404 });

      site.pages.set("/d", { title: "d" });
      expect(await crawl("changed")).toMatchObject({ titles: ["d"], dead: [] });
      expect(await crawl("changed")).toMatchObject({ titles: [], dead: [] });
      expect((await crawl("all")).titles).toEqual(["a", "b2", "c2", "d", "home", "new"]);
    });

    it("compares only with the same set", async () => {
      await crawl("changed");

      const other = await world.crawl({ urls: [site.url], recrawl: { set: "other", emit: "changed" } });

      expect(other.titles).toEqual(["a", "b", "c", "d", "home"]);
    });

    it("detects changes also with parse workers", async () => {
      const queued = () => world.crawl({ urls: [site.url], parse: "queue", recrawl: { set: "s", emit: "changed" } });
      expect((await queued()).titles).toEqual(["a", "b", "c", "d", "home"]);
      site.takeVisits();
      site.pages.set("/a", { title: "a2", by: "weak" });

      const second = await queued();

      expect(second).toMatchObject({ titles: ["a2"], job: { tally: { pages: 5 } } });
      expect(statuses()).toEqual({ "/": 304, "/a": 200, "/b": 304, "/c": 200, "/d": 304 });
    });
  });
}
