/** Failures are reported with the right exit code, also with --quiet, with --json, and after a redirect. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import type { Summary } from "./ledger.ts";
import { originOf } from "./sites.ts";

describe("a crawl without a page", () => {
  it("fails, also if its start URL redirects to a dead page", async () => {
    const [cwd, site] = [
      newFolder(),
      await originOf({ "/": (_, response) => void response.writeHead(302, { location: "/gone" }).end() }),
    ];
    const end = await trawl(["crawl", `${site.url}/`, "--json"], { cwd });

    expect(end.code).toBe(1);
    expect(lastJson<Summary>(end)).toMatchObject({ state: "failed", pages: 0, counts: { done: 1, dead: 1 } });
    expect(end.stderr).toMatch(/failed after .*: no page could be fetched/);
  });

  it("reports the failure with --quiet, too", async () => {
    const [cwd, site] = [newFolder(), await originOf({ "/good": "<h1>x</h1>" })];
    const bad = await trawl(["crawl", `${site.url}/none`, "--quiet"], { cwd });
    const good = await trawl(["crawl", `${site.url}/good`, "--quiet"], { cwd });

    expect(bad.code).toBe(1);
    expect(bad.stderr).toMatch(/^failed after .*: no page could be fetched.*http_status 404, for example \S+\/none/s);
    expect(good).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("the reason of a failed URL", () => {
  it("names the last cause after all retries, in the report and in `trawl dead`", async () => {
    const cwd = newFolder();
    const env = { TRAWL_RETRIES: "1", TRAWL_BACKOFF: "10ms" };
    const end = await trawl(["crawl", "http://127.0.0.1:9/", "--rate", "unlimited", "--ignore-robots"], { cwd, env });
    const groups = await trawl(["dead"], { cwd });
    const letters = await trawl(["dead", "--list"], { cwd });

    expect(end.stderr).toMatch(/no page could be fetched.*1 × retries_spent: connection refused, for example/s);
    expect(groups.stdout).toMatch(/1 +retries_spent: connection refused +- /);
    expect(letters.stdout).toMatch(/^http:\/\/127\.0\.0\.1:9\/ {2}retries_spent: connection refused {2}\(job/);
  });

  it("names the handler if the handler failed on every page", async () => {
    const [cwd, site] = [newFolder(), await originOf({ "/": "<h1>x</h1>" })];
    writeFileSync(
      join(cwd, "throws.mjs"),
      `export default { name: "throws", start: ["${site.url}/"], politeness: { rate: "unlimited", robots: false },
        page() { throw new Error("no such price"); } };`,
    );
    const end = await trawl(["crawl", "throws.mjs"], { cwd });

    expect(end.code).toBe(1);
    expect(end.stderr).toMatch(/failed after .*: the handler failed on every page/);
    expect(end.stderr).not.toContain("no page could be fetched");
  });

  it("is shown by `records`, `job` and `dead` after the handler has failed on every page", async () => {
    const [cwd, site] = [newFolder(), await originOf({ "/1": "<h1>x</h1>", "/2": "<h1>y</h1>" })];
    writeFileSync(
      join(cwd, "throws.mjs"),
      `export default { name: "throws", start: ["${site.url}/1", "${site.url}/2"],
        politeness: { rate: "unlimited", robots: false },
        page() { throw new Error("no such price"); } };`,
    );
    const { id } = lastJson<Summary>(await trawl(["crawl", "throws.mjs", "--json"], { cwd }));
    const [records, job, dead] = [
      await trawl(["records"], { cwd }),
      await trawl(["job"], { cwd }),
      await trawl(["dead"], { cwd }),
    ];

    const cause = "no page was stored: the handler failed on all 2 pages";
    expect(records.stderr).toContain(
      `job ${id} has no records in this store (failed, ${cause}); see: npx trawl dead ${id}\n`,
    );
    expect(job.stdout).toContain(`\n${cause}; see: npx trawl dead ${id}\n`);
    expect(dead.stdout).toMatch(/^ +2 {2}handler_failed .*\n {7}Error: no such price at throws\.mjs:3:\d+\n$/m);
    expect(dead.stderr).toMatch(
      /\n {2}details {2}npx trawl dead \w+ --list\n {2}retry {4}npx trawl dead \w+ --replay\n$/,
    );
  });
});

describe("trawl worker --json", () => {
  it("prints one object per line of stderr, whatever a handler prints", async () => {
    const [cwd, site] = [newFolder(), await originOf({ "/": "<h1>x</h1>" })];
    writeFileSync(
      join(cwd, "loud.mjs"),
      `export default { name: "loud", start: ["${site.url}/"], politeness: { rate: "unlimited", robots: false },
        page() { console.error(new Error("oh no").stack); setTimeout(() => { throw new Error("uncaught"); }); return new Promise(() => {}); } };`,
    );
    const env = { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8" };
    await trawl(["submit", "loud.mjs"], { cwd, env });
    const { stderr } = await trawl(["worker", "--drain", "--json"], { cwd, env });

    const output = jsonLines<{ event: string; text?: string }>(stderr).filter(({ event }) => event === "worker.output");
    expect(output.map(({ text }) => text)).toEqual(expect.arrayContaining(["Error: oh no"]));
    expect(output.some(({ text }) => text?.includes("threw an uncaught error in a callback"))).toBe(true);
  });
});

describe("trawl try", () => {
  it.each([
    ["--screenshot", "page.jpg", "page.png"],
    ["--pdf", "page.png", "page.pdf"],
  ])("refuses a file name with the extension of another format: %s %s", async (flag, file, better) => {
    const cwd = newFolder();
    const { code, stderr } = await trawl(["try", "http://127.0.0.1:9/", flag, file], { cwd });

    expect({ code, isWritten: existsSync(join(cwd, file)) }).toEqual({ code: 2, isWritten: false });
    expect(stderr).toContain(`name the file ${better}`);
  });
});
