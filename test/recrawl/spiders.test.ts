/** Recrawls by a spider: emitted records and followed links are reused until its code changes. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startChangingSite } from "./changing-site.ts";
import { openWorld } from "./world.ts";

const SPIDER = `
import { defineSpider } from "trawl";
import { titleOf } from "./titles.ts";
export default defineSpider({
  name: "s",
  start: ["http://unused.test/"],
  page({ follow }) { follow("a", { to: "leaf", carry: { from: "home" } }); },
  handlers: { leaf({ $, emit, carry }) { emit({ title: titleOf($("h1").text()) + " " + carry.from }); } },
});`;

it("reuses the emitted records and followed links until a file of the spider changes", async () => {
  const site = await startChangingSite({
    "/": { title: "home", links: ["/a", "/b"] },
    "/a": { title: "a" },
    "/b": { title: "b" },
  });
  onTestFinished(() => site.origin.close());
  const world = await openWorld();
  const write = (name: string, text: string) => writeFileSync(join(world.folder, name), text);
  write("spider.ts", SPIDER);
  write("titles.ts", "export const titleOf = (text: string) => text;");
  const spider = join(world.folder, "spider.ts");
  const crawl = async (emit: "all" | "changed") => {
    site.takeVisits();
    const { titles } = await world.crawl({ urls: [site.url], spider, recrawl: { set: "s", emit } });
    return { titles, statuses: site.takeVisits().map(({ status }) => status) };
  };

  expect(await crawl("all")).toEqual({ titles: ["a home", "b home"], statuses: [200, 200, 200] });
  expect(await crawl("all")).toEqual({ titles: ["a home", "b home"], statuses: [304, 304, 304] });
  site.pages.set("/b", { title: "b2" });
  expect((await crawl("changed")).titles).toEqual(["b2 home"]);

  write("titles.ts", "export const titleOf = (text: string) => text.toUpperCase();");
  expect(await crawl("changed")).toEqual({ titles: ["A home", "B2 home"], statuses: [200, 200, 200] });
  expect(await crawl("changed")).toEqual({ titles: [], statuses: [304, 304, 304] });
});
