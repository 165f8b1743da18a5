/** Crawls a real site, the documentation of Python, with Trawl and with wget. Both must find the same pages. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { duplicates, missing } from "../site/loss-checker.ts";
import type { Origin } from "../site/origin.ts";
import { jsonLines, lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { originOf } from "./sites.ts";
import { serveFolder } from "./static-site.ts";

const DOCS = "/usr/share/doc/python3/html";
const obstacles = [
  ...(existsSync(join(DOCS, "index.html")) ? [] : [`${DOCS} is missing (apt-get install python3-doc)`]),
  ...(spawnSync("wget", ["--version"]).status === 0 ? [] : ["wget is missing (apt-get install wget)"]),
];
if (obstacles.length > 0) console.warn(`SKIPPED: Trawl against wget: ${obstacles.join("; ")}`);

/** The paths that were answered with an HTML page. The site uses no query strings. */
function htmlPages({ log }: Origin): string[] {
  return answered(log, ({ path, status }) => status === 200 && /(\.html|\/)$/.test(path));
}

function answered(log: Origin["log"], isWanted: (arrival: Origin["log"][number]) => boolean): string[] {
  return [...new Set(log.filter(isWanted).map(({ path }) => path))].sort();
}

describe.skipIf(obstacles.length > 0)("Python's documentation", () => {
  it("is crawled to the same pages by Trawl and wget, each once", { timeout: 300_000 }, async () => {
    const docs = serveFolder(realpathSync(DOCS));
    const [ours, theirs] = [await originOf(docs), await originOf(docs)];
    const cwd = newFolder();
    const flags = ["--rate", "1000/s", "--json", "--quiet", "--out", "pages.jsonl"];
    const end = await trawl(["crawl", `${ours.url}/`, ...flags], { cwd });
    await wget(`${theirs.url}/`, cwd);

    const [mine, wgets] = [htmlPages(ours), htmlPages(theirs)];
    const others = answered(theirs.log, ({ path, status }) => status === 200 && !wgets.includes(path));
    console.log(
      `${mine.length} pages by Trawl, ${wgets.length} by wget, which also fetched ${others.length} other files`,
    );
    expect(end.code).toBe(0);
    expect({ lost: missing(wgets, mine), extra: missing(mine, wgets) }).toEqual({ lost: [], extra: [] });
    expect(duplicates(ours.log.map(({ path }) => path))).toEqual(new Map());

    const summary = lastJson<Summary>(end);
    expectBalanced(summary.counts);
    const urls = jsonLines<{ _url: string }>(readFileSync(join(cwd, "pages.jsonl"), "utf8")).map(({ _url }) => _url);
    expect(
      missing(
        mine.map((path) => ours.url + path),
        urls,
      ),
    ).toEqual([]);
    expect(duplicates(urls)).toEqual(new Map());
  });
});

/** Must not block: this process serves the site. */
async function wget(url: string, folder: string): Promise<void> {
  const flags = ["--recursive", "--level=inf", "--no-verbose", "--directory-prefix", join(folder, "wget"), url];
  const child = spawn("wget", flags, { stdio: "ignore" });
  const [code] = await once(child, "close");
  // 8: some responses were errors, because the site has dead links.
  if (code !== 0 && code !== 8) throw new Error(`wget ended with ${code}`);
}
