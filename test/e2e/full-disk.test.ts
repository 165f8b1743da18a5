/**
 * The disk fills up during a crawl: the crawl fails with an error code, and loses no data once there is space again.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { duplicates, missing } from "../site/loss-checker.ts";
import { jsonLines, lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { linkedSite, pagesRequested } from "./sites.ts";
import { findMountObstacle, mountTinyDisk } from "./tiny-disk.ts";

const obstacle = findMountObstacle();
if (obstacle !== undefined) console.warn(`SKIPPED: tests with a full disk: ${obstacle}`);

const PAGES = 300;
/** A task fails after three workers have died with it: a full disk must not count as a death. */
const TRIES_WHILE_FULL = 4;

describe.skipIf(obstacle !== undefined)("a full disk", () => {
  it.each([
    {
      what: "store",
      kilobytes: 900,
      message: /STORE_UNREACHABLE: store \S+store\.db: .*disk is full.*free some space/,
    },
    {
      what: "broker",
      kilobytes: 400,
      message: /BROKER_UNREACHABLE: broker \S+broker\.db: .*disk is full.*free some space/,
    },
  ])(
    "for the $what stops the crawl, which loses nothing in any number of attempts",
    async ({ what, kilobytes, message }) => {
      const [cwd, site, disk] = [newFolder(), await linkedSite({ pages: PAGES }), mountTinyDisk(kilobytes)];
      const location = [`--${what}`, `sqlite:${disk.path}/${what}.db`];
      const flags = [...location, "--out", "pages.jsonl", "--json", "--quiet"];
      const first = await trawl(["crawl", `${site.url}/`, "--rate", "unlimited", "--per-site", "8", ...flags], { cwd });
      expect(first).toMatchObject({ code: 3, stdout: "" });
      expect(first.stderr).toMatch(new RegExp(`trawl: ${message.source}`));
      for (let attempt = 1; attempt < TRIES_WHILE_FULL; attempt++) {
        const again = await trawl(["crawl", "--resume", ...flags], { cwd });
        expect(again.code).toBe(3);
        expect(again.stderr).toMatch(message);
      }
      expect(readdirSync(cwd).filter((name) => name.startsWith("pages"))).toEqual([]);
      expect(new Set(pagesRequested(site)).size).toBeLessThan(PAGES);

      disk.enlarge();
      const end = await trawl(["crawl", "--resume", ...flags], { cwd });
      const summary = lastJson<Summary>(end);
      expect(end.code).toBe(0);
      expect(summary).toMatchObject({ state: "finished", pages: PAGES, records: PAGES, counts: { dead: 0 } });
      expectBalanced(summary.counts);
      const urls = jsonLines<{ _url: string }>(readFileSync(join(cwd, "pages.jsonl"), "utf8")).map(({ _url }) => _url);
      expect(missing(site.expectedPages(), urls)).toEqual([]);
      expect(duplicates(urls)).toEqual(new Map());
    },
  );

  it("for the output keeps the old file, and the output is written once there is space", async () => {
    const [cwd, site, disk] = [newFolder(), await linkedSite({ pages: PAGES }), mountTinyDisk(100)];
    const out = join(disk.path, "pages.jsonl");
    writeFileSync(out, "old\n");
    const flags = ["--out", out, "--json", "--quiet", "--rate", "unlimited", "--per-site", "8"];
    const end = await trawl(["crawl", `${site.url}/`, ...flags], { cwd });

    expect(end).toMatchObject({ code: 2, stdout: "" });
    expect(end.stderr).toMatch(/^trawl: BAD_OUTPUT: output \S+pages\.jsonl": .*disk is full: free some space/);
    expect(readdirSync(disk.path)).toEqual(["pages.jsonl"]);
    expect(readFileSync(out, "utf8")).toBe("old\n");
    const requests = site.log.length;
    disk.enlarge();
    const { stderr } = await trawl(["crawl", "--resume"], { cwd });
    const [, id = ""] =
      /NOTHING_TO_RESUME: .*to write the output of the newest crawl again, .*--resume (\w+)/.exec(stderr) ?? [];
    const resumed = await trawl(["crawl", "--resume", id, "--json"], { cwd });
    expect(resumed.code).toBe(0);
    expect(lastJson<Summary>(resumed)).toMatchObject({ state: "finished", records: PAGES, out });
    expect(jsonLines(readFileSync(out, "utf8"))).toHaveLength(PAGES);
    expect(site.log.length).toBe(requests);
  });

  it("for the bodies stops the crawl, too, and loses nothing", async () => {
    const [cwd, site, disk] = [newFolder(), await linkedSite({ pages: 60, pageBytes: 20_000 }), mountTinyDisk(80)];
    const env = { TRAWL_BODIES: `file:${disk.path}/bodies` };
    const flags = ["--json", "--quiet", "--keep-bodies", "--rate", "unlimited"];
    const end = await trawl(["crawl", `${site.url}/`, ...flags], { cwd, env });
    expect(end).toMatchObject({ code: 3, stdout: "" });
    expect(end.stderr).toMatch(/^trawl: STORE_UNREACHABLE: .*bodies.*free some space/);

    disk.enlarge();
    const resumed = await trawl(["crawl", "--resume", "--json"], { cwd, env });
    expect(lastJson<Summary>(resumed)).toMatchObject({ state: "finished", records: 60, counts: { dead: 0 } });
  });
});
