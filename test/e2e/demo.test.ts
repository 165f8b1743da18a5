import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createDemoShop, type DemoShop } from "../../src/demo/demo-shop.ts";
import { duplicates, missing } from "../site/loss-checker.ts";
import { jsonLines, lastJson, startTrawl, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { listedUrls } from "./listed-urls.ts";

type RecordLine = { title: string; text: string; _url: string; _status: number };

const DEAD_LINK = "/catalogue/last-year/";
const RULES = ["-e", "title=h1", "-e", "price=.price|number", "-e", "tags[]=a.tag", "-e", "sku=jsonld:Product.sku"];

async function openShop(): Promise<DemoShop> {
  const shop = await createDemoShop({ port: 0 });
  onTestFinished(() => shop.close());
  return shop;
}

/** The pages in the sitemaps of the shop. A crawl also finds the sitemap itself, because a page links to it. */
async function listedPaths(shop: DemoShop): Promise<string[]> {
  const urls = await listedUrls(shop);
  return urls.map((url) => new URL(url).pathname);
}

function pathsOf(records: readonly RecordLine[]): string[] {
  return records.map(({ _url }) => new URL(_url).pathname);
}

describe("the demo shop", () => {
  it("is crawled completely by `trawl demo`, which prints the failures and the next commands", async () => {
    const cwd = newFolder();
    const end = await trawl(["demo"], { cwd });

    expect(end).toMatchObject({ code: 0, stdout: "" });
    expect(end.stderr).toMatch(/complete in .*418 in trawl-demo\.jsonl/s);
    expect(end.stderr).toMatch(/1 × http_status 404, for example \S+\/catalogue\/last-year\//);
    expect(end.stderr).toContain("next steps:");
    const records = jsonLines<RecordLine>(readFileSync(join(cwd, "trawl-demo.jsonl"), "utf8"));
    expect(pathsOf(records).sort()).toEqual([...(await listedPaths(await openShop())), "/sitemap.xml"].sort());
  });

  it("is crawled by `trawl crawl`: each allowed page once, according to the log of the shop", async () => {
    const [cwd, shop] = [newFolder(), await openShop()];
    const flags = ["--rate", "200/s", "--per-site", "8", "--out", "shop.jsonl", "--json", ...RULES];
    const end = await trawl(["crawl", `${shop.url}/`, ...flags], { cwd });
    const visits = [...shop.log];
    const hits = (path: string) => visits.filter((visit) => visit.path === path).map(({ status }) => status);

    expect(end.code).toBe(0);
    const summary = lastJson<Summary>(end);
    expectBalanced(summary.counts);
    expect(summary).toMatchObject({ state: "finished", records: 418, out: "shop.jsonl", counts: { dead: 1 } });

    const pages = visits.filter(({ status }) => status === 200).map(({ path }) => path);
    // The crawler requests /robots.txt twice: for its rules, and as a page that another page links to.
    expect(duplicates(pages)).toEqual(new Map([["/robots.txt", 2]]));
    expect(hits("/checkout/")).toEqual([]);
    const listed = await listedPaths(shop);
    expect(missing(listed, pages)).toEqual([]);
    const records = jsonLines<RecordLine>(readFileSync(join(cwd, "shop.jsonl"), "utf8"));
    expect(pathsOf(records).sort()).toEqual([...listed, "/sitemap.xml"].sort());

    const busy = visits.find(({ status }) => status === 503)?.path ?? "";
    expect(hits(busy)).toEqual([503, 200]);
    expect(records.find(({ _url }) => _url === shop.url + busy)).toMatchObject({ _status: 200 });
    const moved = visits.find(({ status }) => status === 301)?.path ?? "";
    const { headers } = await fetch(shop.url + moved, { redirect: "manual" });
    expect(hits(moved)).toEqual([301]);
    expect(hits(headers.get("location") ?? "")).toEqual([200]);
    expect(hits(DEAD_LINK)).toEqual([404]);
    const { dead } = lastJson<{ dead: unknown[] }>(await trawl(["dead", summary.id, "--list", "--json"], { cwd }));
    expect(dead).toEqual([expect.objectContaining({ url: shop.url + DEAD_LINK, reason: "http_status", status: 404 })]);
  });

  it("has a page that is not UTF-8, which is decoded with the charset of its response header", async () => {
    const [cwd, shop] = [newFolder(), await openShop()];
    const end = await trawl(["crawl", `${shop.url}/cafe/`, "--follow", "none"], { cwd });

    const [cafe, ...others] = jsonLines<RecordLine>(end.stdout);
    expect(others).toEqual([]);
    expect(cafe?.text).toContain("Crème brûlée");
    expect(cafe?.text).toContain("Smørrebrød");
  });

  it("is served without a crawl by `trawl demo --serve`, until Ctrl-C", async () => {
    const served = startTrawl(["demo", "--serve"], { cwd: newFolder() });
    await served.prints(/the demo shop runs at/);
    served.kill("SIGINT");

    expect(await served.ended).toMatchObject({ code: 130, stdout: "" });
  });
});
