/** Rendered pages: requested without a condition, and compared by their records. */
import { describe, expect, it, onTestFinished } from "vitest";
import { CHROMIUM } from "../browser/chromium.ts";
import { startChangingSite } from "./changing-site.ts";
import { openWorld } from "./world.ts";

describe.skipIf(CHROMIUM === undefined)("a recrawl that renders", () => {
  it.each(["inline", "queue"] as const)("requests every page, and emits changed ones (parse: %s)", async (parse) => {
    const site = await startChangingSite({ "/": { title: "home", links: ["/a"] }, "/a": { title: "a" } });
    onTestFinished(() => site.origin.close());
    const world = await openWorld({ chromium: CHROMIUM });
    const crawl = () =>
      world.crawl({ urls: [site.url], render: "always", parse, recrawl: { set: "s", emit: "changed" } });
    expect((await crawl()).titles).toEqual(["a", "home"]);
    site.pages.set("/a", { title: "a2" });
    site.takeVisits();

    const second = await crawl();

    expect(second).toMatchObject({ titles: ["a2"], job: { tally: { pages: 2 } } });
    const visits = site.takeVisits().filter(({ path }) => path !== "/favicon.ico");
    expect(visits.map(({ etag, since, status }) => [etag, since, status])).toEqual(
      [1, 2].map(() => [undefined, undefined, 200]),
    );
    // A rendered page must not be reused by a job that does not render.
    const plain = { urls: [site.url], parse, render: "never" as const, recrawl: { set: "s" } };
    await world.crawl(plain);
    expect(site.takeVisits().map(({ status }) => status)).toEqual([200, 200]);
  });
});
