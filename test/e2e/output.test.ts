/** Tests the output of crawls, and the commands that read records from the store. */
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { describe, expect, it } from "vitest";
import { jsonLines, lastJson, startTrawl, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { linkedSite, pagesRequested } from "./sites.ts";

/** Every write to this device fails with "no space left". */
const FULL = "/dev/full";

const FAST = ["--rate", "unlimited", "--per-site", "8"];

describe("the output of a crawl", () => {
  it("is JSON lines on stdout by default, and nothing else is on stdout", async () => {
    const [cwd, site] = [newFolder(), await linkedSite({ pages: 40 })];
    const end = await trawl(["crawl", `${site.url}/`, ...FAST], { cwd });

    expect(end.code).toBe(0);
    const records = jsonLines<{ _url: string; title: string; links: string[] }>(end.stdout);
    expect(records.map(({ _url }) => _url).sort()).toEqual(site.expectedPages().sort());
    expect(records.find(({ _url }) => _url === `${site.url}/page/7`)).toMatchObject({
      title: "Page 7",
      _status: 200,
      _job: expect.stringMatching(/^j/),
      _depth: expect.any(Number),
      _fetchedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(readdirSync(cwd)).toEqual([".trawl"]);
  });

  it("ends with a summary as the last line of stdout with --json, and its counts balance", async () => {
    const [cwd, site] = [newFolder(), await linkedSite({ pages: 40 })];
    const end = await trawl(["crawl", `${site.url}/`, "--json", "--name", "forty", ...FAST], { cwd });

    expect(jsonLines(end.stdout)).toHaveLength(1);
    const summary = lastJson<Summary>(end);
    expect(summary).toMatchObject({ name: "forty", state: "finished", pages: 40, records: 40, invalid: 0 });
    expect(summary.counts).toMatchObject({ submitted: 1, done: 40, dead: 0, queued: 0, delayed: 0, leased: 0 });
    expect(summary.counts.refused).toBeGreaterThanOrEqual(site.disallowedPages().length);
    expect(summary.seconds).toBeGreaterThan(0);
    expectBalanced(summary.counts);
  });

  it("can be a typed Parquet file, from a crawl or from the store; Parquet is refused on stdout", async () => {
    const [cwd, site] = [newFolder(), await linkedSite({ pages: 12 })];
    const rules = ["-e", "title=h1", "-e", "number=.number|number", "-e", "never=.never"];
    const end = await trawl(["crawl", `${site.url}/`, "--out", "pages.parquet", "--json", ...rules, ...FAST], { cwd });
    const { id } = lastJson<Summary>(end);
    await trawl(["records", id, "--format", "parquet", "--out", "again.bin"], { cwd });
    const onStdout = await trawl(["records", id, "--format", "parquet"], { cwd });

    const rows = await parquetRows(join(cwd, "pages.parquet"));
    expect(Object.keys(rows[0] ?? {})).toEqual([
      "title",
      "number",
      "never",
      "_url",
      "_status",
      "_fetchedAt",
      "_job",
      "_depth",
    ]);
    expect(rows.map(({ _url }) => _url).sort()).toEqual(site.expectedPages().sort());
    expect(rows.find(({ title }) => title === "Page 7")).toMatchObject({
      number: 7,
      never: null,
      _url: `${site.url}/page/7`,
      _status: 200,
      _fetchedAt: expect.any(Date),
      _job: id,
    });
    expect((await parquetRows(join(cwd, "again.bin"))).map(({ _url }) => _url)).toEqual(rows.map(({ _url }) => _url));
    expect(readdirSync(cwd).sort()).toEqual([".trawl", "again.bin", "pages.parquet"]);
    expect(onStdout).toMatchObject({ code: 2, stdout: "" });
    expect(onStdout.stderr).toMatch(/BAD_OUTPUT: Parquet is a binary format .*; set a file: --out records.parquet/);
  });

  it("is a file in the format of its extension, and can be exported again in another format", async () => {
    const [cwd, site] = [newFolder(), await linkedSite({ pages: 12 })];
    const rules = ["-e", "title=h1", "-e", "number=.number|number"];
    const end = await trawl(["crawl", `${site.url}/`, "--out", "pages.csv", "--json", ...rules, ...FAST], { cwd });
    const { id } = lastJson<Summary>(end);
    const csv = readFileSync(join(cwd, "pages.csv"), "utf8");
    const [header, ...rows] = csv.trimEnd().split("\r\n");

    expect(header).toBe("title,number,_url,_status,_fetchedAt,_job,_depth");
    expect(rows).toHaveLength(12);
    expect(rows.find((row) => row.startsWith("Page 7,"))).toMatch(/^Page 7,7,http:.*\/page\/7,200,/);

    const again = await trawl(["records", id, "--format", "csv"], { cwd });
    expect(again.stdout.split("\r\n").sort()).toEqual(csv.split("\r\n").sort());
    const piped = await trawl(["records", id], { cwd });
    expect(jsonLines(piped.stdout)).toHaveLength(12);
    const filed = await trawl(["records", id, "--out", "again.jsonl"], { cwd });
    expect(filed).toMatchObject({ code: 0, stdout: "" });
    expect(filed.stderr).toContain("12 records written to again.jsonl");
    expect(readFileSync(join(cwd, "again.jsonl"), "utf8")).toBe(piped.stdout);
    expect(readdirSync(cwd).filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  it("that is a closed pipe stops the crawl like Ctrl-C, and the crawl can be resumed", async () => {
    const [cwd, site] = [newFolder(), await linkedSite({ pages: 120 })];
    const crawl = startTrawl(["crawl", `${site.url}/`, "--rate", "50/s"], { cwd });
    await crawl.prints(/"_url"/);
    crawl.stopReading();
    const end = await crawl.ended;

    expect(end.code).toBe(130);
    expect(end.stderr).not.toContain("EPIPE");
    expect(end.stderr).toMatch(/^stopping: .*\(stdout was closed\)$/m);
    expect(end.stderr).not.toContain("Ctrl-C");
    expect(end.stderr).toMatch(/crawl --resume j/);
    const resumed = await trawl(["crawl", "--resume", "--json"], { cwd });
    expect(lastJson<Summary>(resumed)).toMatchObject({ state: "finished", pages: 120, records: 120 });
    expect(pagesRequested(site).sort()).toEqual(
      site
        .expectedPages()
        .map((url) => new URL(url).pathname)
        .sort(),
    );

    const records = startTrawl(["records", lastJson<Summary>(resumed).id], { cwd });
    records.stopReading();
    expect(await records.ended).toMatchObject({ code: 0, stderr: "" });
  });

  it.skipIf(!existsSync(FULL))(
    "that cannot be written to stdout is an error with a code, and nothing is lost",
    async () => {
      const [cwd, site] = [newFolder(), await linkedSite({ pages: 20 })];
      const stdoutTo = openSync(FULL, "w");
      const end = await trawl(["crawl", `${site.url}/`, ...FAST], { cwd, stdoutTo });
      closeSync(stdoutTo);

      expect(end.code).toBe(2);
      expect(end.stderr).toMatch(/trawl: BAD_OUTPUT: stdout: ENOSPC.*trawl records/);
      expect(end.stderr).not.toMatch(/\n {4}at /);
      const { jobs } = lastJson<{ jobs: Summary[] }>(await trawl(["jobs", "--json"], { cwd }));
      const resumed = await trawl(["crawl", "--resume", jobs[0]?.id ?? ""], { cwd });
      expect(resumed.code).toBe(0);
      expect(jsonLines(resumed.stdout)).toHaveLength(20);
    },
  );
});

async function parquetRows(path: string): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file: new Uint8Array(readFileSync(path)).buffer });
}
