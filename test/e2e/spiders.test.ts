/** Tests spiders as users write them: as a TypeScript file in a folder outside of this repository. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Origin } from "../site/origin.ts";
import { jsonLines, lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { linksTo, originOf, pagesRequested } from "./sites.ts";

const ZOD = fileURLToPath(new URL("../../node_modules/zod", import.meta.url));

/** A folder with a spider. Like in a user's project, zod is installed in it; Trawl is not. */
function folderWith(spider: string): string {
  const cwd = newFolder();
  mkdirSync(join(cwd, "node_modules"));
  symlinkSync(ZOD, join(cwd, "node_modules/zod"));
  writeFileSync(join(cwd, "spider.ts"), spider);
  return cwd;
}

async function crawl(spider: string) {
  const cwd = folderWith(spider);
  const end = await trawl(["crawl", "spider.ts", "--json", "--quiet"], { cwd });
  const summary = lastJson<Summary>(end);
  expectBalanced(summary.counts);
  const records = jsonLines((await trawl(["records", summary.id], { cwd })).stdout);
  return { cwd, code: end.code, summary, records };
}

async function deadOf(cwd: string): Promise<{ url: string; reason: string; history: { detail: string }[] }[]> {
  return lastJson<{ dead: [] }>(await trawl(["dead", "--list", "--json"], { cwd })).dead;
}

function shop(): Promise<Origin> {
  return originOf({
    "/": `${linksTo("/p/1", "/p/2")}<a class="next" href="/page/2">next</a>`,
    "/page/2": `${linksTo("/p/3")}<a class="off" href="http://127.0.0.3:1/">away</a>`,
    "/p/1": '<h1>Kettle</h1><p class="price">12.50</p>',
    "/p/2": '<h1>Pan</h1><p class="price">ask us</p>',
    "/p/3": '<h1>Ladle</h1><p class="price">3</p>',
  });
}

describe("a spider", () => {
  it("has typed handlers that pass pages and small values to each other", async () => {
    const site = await shop();
    const { code, summary, records } = await crawl(`
      import { defineSpider, type PageContext } from "trawl";

      type Product = { title: string; list: number };
      enum Lists { First = 1 }
      const listOf = (carry: unknown): number => (carry as { list: number } | undefined)?.list ?? Lists.First;

      export default defineSpider<Product>({
        name: "shop",
        start: ["${site.url}/"],
        politeness: { rate: "unlimited" },
        page({ follow, carry }: PageContext<Product>): void {
          const list = listOf(carry);
          follow("a[href^='/p/']", { to: "product", carry: { list }, priority: 3 });
          follow(".next", { to: "page", carry: { list: list + 1 } });
        },
        handlers: {
          async product({ $, emit, carry, url, depth }) {
            emit({ title: $("h1").text(), list: listOf(carry), url, depth });
          },
        },
      });
    `);

    expect(code).toBe(0);
    expect(summary).toMatchObject({ name: "shop", pages: 5, records: 3 });
    expect(records.map(({ title, list, depth }) => ({ title, list, depth }))).toEqual(
      expect.arrayContaining([
        { title: "Kettle", list: 1, depth: 1 },
        { title: "Pan", list: 1, depth: 1 },
        { title: "Ladle", list: 2, depth: 2 },
      ]),
    );
    expect(pagesRequested(site).sort()).toEqual(["/", "/p/1", "/p/2", "/p/3", "/page/2"]);
  });

  it("has a schema that checks records: invalid records are stored separately, counted and readable", async () => {
    const site = await shop();
    const { cwd, summary, records } = await crawl(`
      import { defineSpider } from "trawl";
      import { z } from "zod";

      export default defineSpider({
        name: "strict",
        start: ["${site.url}/p/1", "${site.url}/p/2", "${site.url}/p/3"],
        politeness: { rate: "unlimited" },
        schema: z.object({ title: z.string(), price: z.coerce.number().positive() }),
        page({ $, emit }) {
          emit({ title: $("h1").text(), price: $(".price").text() as unknown as number });
        },
      });
    `);

    expect(summary).toMatchObject({ pages: 3, records: 2, invalid: 1 });
    expect(records.map(({ title, price }) => ({ title, price }))).toEqual(
      expect.arrayContaining([
        { title: "Kettle", price: 12.5 },
        { title: "Ladle", price: 3 },
      ]),
    );
    const invalid = jsonLines((await trawl(["records", summary.id, "--invalid"], { cwd })).stdout);
    expect(invalid).toEqual([
      { title: "Pan", price: "ask us", _url: `${site.url}/p/2`, _reason: expect.stringMatching(/^price: .*number/) },
    ]);
  });

  it("that throws fails only that page, and the reason contains the line of the spider", async () => {
    const site = await shop();
    const { cwd, code, summary } = await crawl(`
      import { defineSpider } from "trawl";
      export default defineSpider({
        name: "thrower",
        start: ["${site.url}/p/1", "${site.url}/p/2", "${site.url}/p/3"],
        politeness: { rate: "unlimited" },
        async page({ $, emit }) {
          if ($("h1").text() === "Pan") throw new RangeError("no pans here");
          emit({ title: $("h1").text() });
        },
      });
    `);

    expect(code).toBe(0);
    expect(summary).toMatchObject({ records: 2, counts: { done: 2, dead: 1 } });
    const detail = expect.stringMatching(/^RangeError: no pans here at spider\.ts:8:\d+$/);
    expect(await deadOf(cwd)).toMatchObject([
      { url: `${site.url}/p/2`, reason: "handler_failed", history: [{ detail }] },
    ]);
    const { stderr } = await trawl(["crawl", "spider.ts"], { cwd });
    expect(stderr).toMatch(/^ {2}error +RangeError: no pans here at spider\.ts:8:\d+$/m);
  });

  it("gets a report of selectors that matched nothing, with and without a child process", async () => {
    const site = await shop();
    const cwd = folderWith(`
      import { defineSpider } from "trawl";
      export default defineSpider({
        name: "typo",
        start: ["${site.url}/", "${site.url}/page/2"],
        politeness: { rate: "unlimited" },
        page({ follow }) {
          follow(".next");
          follow(".nxt a");
        },
      });
    `);

    for (const env of [{}, { TRAWL_POOL: "solo" }]) {
      const { stderr } = await trawl(["crawl", "spider.ts"], { cwd, env });
      expect(stderr).toMatch(/^ {2}follow +\.nxt a matched no links$/m);
      expect(stderr).not.toContain(".next matched");
    }
    const { stderr } = await trawl(["crawl", `${site.url}/`, "--follow", ".nxt"], { cwd });
    expect(stderr).toMatch(/^ {2}follow +\.nxt matched no links$/m);
  });

  const INVALID_CALLS: Readonly<Record<string, { handler: string; message: RegExp }>> = {
    "a BigInt": { handler: "emit({ big: 10n } as never);", message: /emit: .*JSON.*BigInt/ },
    "a circular object": {
      handler: "const circle: Record<string, unknown> = {}; circle.self = circle; emit(circle);",
      message: /emit: .*JSON.*circular/,
    },
    "a string": { handler: 'emit("just text" as never);', message: /emit: takes an object/ },
    "a list": { handler: "emit([1, 2] as never);", message: /emit: takes an object/ },
    nothing: { handler: "emit(undefined as never);", message: /emit: .*undefined/ },
    "a date": { handler: "emit(new Date(0) as never);", message: /emit: takes an object/ },
    "a BigInt to carry": { handler: 'follow("/p/9", { carry: 1n });', message: /carry.*JSON.*BigInt/ },
    "a fractional priority": { handler: 'follow("/p/9", { priority: 1.5 });', message: /priority.*0 to 9.*1\.5/ },
    "a handler name that is a number": {
      handler: 'follow("/p/9", { to: 7 as never });',
      message: /`to` takes the name/,
    },
    "an unknown handler": {
      handler: 'follow("/p/9", { to: "unknown" });',
      message: /no handler unknown; it has page at spider\.ts:\d+:\d+$/,
    },
    "an invalid selector": { handler: 'follow("a[[");', message: /\S/ },
  };

  it("that passes an invalid value to emit or follow fails only that page", async () => {
    const names = Object.keys(INVALID_CALLS);
    const site = await originOf(Object.fromEntries(names.map((_, n) => [`/${n}`, `<h1>${n}</h1>`])));
    const good = await originOf(Object.fromEntries(names.map((_, n) => [`/${n}`, `<h1>good ${n}</h1>`])));
    const start = names.flatMap((_, n) => [`${site.url}/${n}`, `${good.url}/${n}`]);
    const { cwd, code, summary, records } = await crawl(`
      import { defineSpider, type PageContext } from "trawl";
      const careless: ((context: PageContext) => void)[] = [
        ${Object.values(INVALID_CALLS)
          .map(({ handler }) => `({ emit, follow }) => { ${handler} },`)
          .join("\n")}
      ];
      export default defineSpider({
        name: "careless",
        start: ${JSON.stringify(start)},
        politeness: { rate: "unlimited", perSite: 8 },
        page(context) {
          const title = context.$("h1").text();
          if (title.startsWith("good")) context.emit({ title });
          else careless[Number(title)]?.(context);
        },
      });
    `);

    expect(code).toBe(0);
    expect(records.map(({ title }) => title).sort()).toEqual(names.map((_, n) => `good ${n}`).sort());
    expect(summary.counts).toMatchObject({ done: names.length, dead: names.length });
    const dead = await deadOf(cwd);
    expect(new Set(dead.map(({ reason }) => reason))).toEqual(new Set(["handler_failed"]));
    for (const [n, [name, { message }]] of Object.entries(INVALID_CALLS).entries()) {
      expect(dead.find(({ url }) => url === `${site.url}/${n}`)?.history.at(-1)?.detail, name).toMatch(message);
    }
  });
});
