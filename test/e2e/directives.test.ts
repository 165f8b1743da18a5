/** Tests refreshes, links to the next page, and robots directives of pages, from the side of the site. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { originOf, pagesRequested } from "./sites.ts";

async function crawl(job: object, env: Record<string, string> = {}) {
  const cwd = newFolder();
  writeFileSync(join(cwd, "job.json"), JSON.stringify(job));
  const end = await trawl(["crawl", "job.json", "--rate", "unlimited", "--json", "--quiet"], { cwd, env });
  const summary = lastJson<Summary>(end);
  expectBalanced(summary.counts);
  const list = async (flag: string[]) => jsonLines((await trawl(["records", summary.id, ...flag], { cwd })).stdout);
  const records = (await list([])) as { title: string }[];
  return { summary, titles: records.map(({ title }) => title).sort(), list };
}

function refresh(target: string): string {
  return `<title>refresh</title><meta http-equiv="refresh" content="0; url=${target}">`;
}

describe("a refresh", () => {
  it("is followed like a redirect: in the link scope, without a record, and limited in number", async () => {
    const other = await originOf({ "/": "<title>other</title>" }, { host: "127.0.0.2" });
    const site = await originOf({
      "/": `<title>home</title><a href="/moved">1</a><a href="/header">2</a><a href="/away">3</a><a href="/loop-a">4</a>`,
      "/moved": refresh("/target"),
      "/header": { headers: { refresh: "3; url=/target" }, body: "<title>header</title>" },
      "/away": refresh(`${other.url}/`),
      "/loop-a": refresh("/loop-b"),
      "/loop-b": refresh("/loop-a"),
      "/target": "<title>target</title>",
    });
    const job = { urls: [`${site.url}/`], follow: {}, politeness: { robots: false }, extract: { title: "title" } };

    const { summary, titles } = await crawl(job);

    expect(titles).toEqual(["home", "target"]);
    expect(summary).toMatchObject({ pages: 2, counts: { dead: 0, refused: 1 } });
    expect(pagesRequested(site).filter((path) => path === "/target")).toHaveLength(1);
    expect(other.log).toEqual([]);

    const start = await crawl({ ...job, urls: [`${site.url}/away`] }, { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8" });
    expect(start.titles).toEqual(["other"]);
    const limited = await crawl({ ...job, urls: [`${site.url}/moved`] }, { TRAWL_REDIRECTS: "0" });
    expect(limited.summary).toMatchObject({ pages: 0, counts: { dead: 1 } });
  });
});

describe("robots directives of pages", () => {
  it("are obeyed only if the job sets politeness.metaRobots", async () => {
    const site = await originOf({
      "/": {
        headers: { link: '</next>; rel="next"' },
        body: '<title>home</title><a href="/a" rel="nofollow">a</a><a href="/b">b</a>',
      },
      "/a": "<title>a</title>",
      "/b": '<title>b</title><meta name="robots" content="nofollow"><a href="/c">c</a>',
      "/c": "<title>c</title>",
      "/next": { headers: { "x-robots-tag": "noindex" }, body: '<title>next</title><a href="/d">d</a>' },
      "/d": "<title>d</title>",
    });
    const job = { urls: [`${site.url}/`], follow: {}, extract: { title: "title" } };

    const all = await crawl({ ...job, politeness: { robots: false } });
    const obedient = await crawl({ ...job, politeness: { robots: false, metaRobots: true } });

    expect(all.titles).toEqual(["a", "b", "c", "d", "home", "next"]);
    expect(obedient.titles).toEqual(["b", "d", "home"]);
    expect(obedient.summary).toMatchObject({ pages: 4, invalid: 1, counts: { dead: 0 } });
    expect(JSON.stringify(await obedient.list(["--invalid"]))).toContain("robots directive noindex");
  });
});
