/** Tests guarantees of a crawl when handlers, lists, the store or settings are faulty. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, lastJson, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import { expectBalanced, type Summary } from "./ledger.ts";
import { linksTo, originOf } from "./sites.ts";

const FAST = ["--rate", "unlimited", "--ignore-robots", "--json", "--quiet"];

describe("a crawl", () => {
  it("aborts a handler that never ends, and continues with the other pages", async () => {
    const [cwd, site] = [newFolder(), await originOf({ "/a": "a", "/b": "b" })];
    writeFileSync(
      join(cwd, "spider.mjs"),
      `export default {
        name: "endless",
        start: ["${site.url}/a", "${site.url}/b"],
        politeness: { rate: "unlimited", robots: false },
        async page({ url, emit }) { if (url.endsWith("/a")) await new Promise(() => {}); emit({ url }); },
      };`,
    );

    const end = await trawl(["crawl", "spider.mjs", "--json", "--quiet"], {
      cwd,
      env: { TRAWL_HANDLER_TIMEOUT: "100ms" },
    });

    expect(lastJson<Summary>(end)).toMatchObject({ state: "finished", records: 1, counts: { done: 1, dead: 1 } });
    const dead = await trawl(["dead", "--list"], { cwd });
    expect(dead.stdout).toMatch(/handler_failed[\s\S]*took longer than 100 ms/);
  });

  it("survives errors, unhandled rejections and output of a handler", async () => {
    const [cwd, site] = [newFolder(), await originOf({ "/a": "a", "/b": "b", "/c": "c" })];
    writeFileSync(
      join(cwd, "spider.mjs"),
      `export default {
        name: "rude",
        start: ["${site.url}/a", "${site.url}/b", "${site.url}/c"],
        politeness: { rate: "unlimited", robots: false },
        page({ url, emit, follow }) {
          console.log("printed by a spider");
          if (url.endsWith("/a")) throw Object.create(null);
          if (url.endsWith("/b")) Promise.reject(new Error("not handled"));
          if (url.endsWith("/c")) follow("/d", { carry: () => 1 });
          const record = { url, n: 1 };
          emit(record);
          record.n = 2;
          emit(record);
        },
      };`,
    );

    const end = await trawl(["crawl", "spider.mjs", "--quiet"], { cwd });

    expect(jsonLines(end.stdout)).toMatchObject([
      { url: `${site.url}/b`, n: 1 },
      { url: `${site.url}/b`, n: 2 },
    ]);
    expect(end.stderr).toMatch(/printed by a spider/);
    expect(end.stderr).toMatch(/not awaited[\s\S]*not handled/);
    expect(end.code).toBe(0);
  });

  it("does not lose a list of URLs whose submission was interrupted", async () => {
    const [cwd, site] = [newFolder(), await originOf((_request, response) => void response.end("page"))];
    const urls = Array.from({ length: 800 }, (_, n) => `${site.url}/${n}`);
    writeFileSync(join(cwd, "urls.txt"), urls.join("\n"));
    const args = ["crawl", "urls.txt", "--follow", "none", ...FAST];

    const full = await trawl(args, { cwd, env: { TRAWL_MAX_PENDING: "600" } });
    const withoutList = await trawl(["crawl", "--resume", "--json", "--quiet"], { cwd });
    const withList = await trawl([...args, "--resume"], { cwd });

    expect([full.code, full.stderr]).toEqual([3, expect.stringContaining("BROKER_FULL")]);
    expect([withoutList.code, withoutList.stderr]).toEqual([2, expect.stringContaining("pass the same list again")]);
    expect(lastJson<Summary>(withList)).toMatchObject({ state: "finished", records: 800 });
    expectBalanced(lastJson<Summary>(withList).counts);
  });

  it("is not reported as finished if its store has lost records", async () => {
    const [cwd, site] = [newFolder(), await originOf({ "/": linksTo("/a"), "/a": "a" })];
    const { id } = lastJson<Summary>(await trawl(["crawl", `${site.url}/`, ...FAST], { cwd }));
    for (const suffix of ["", "-wal", "-shm"]) rmSync(join(cwd, `.trawl/store.db${suffix}`), { force: true });

    const end = await trawl(["crawl", "--resume", id, "--json", "--quiet"], { cwd });

    expect([end.code, end.stderr]).toEqual([3, expect.stringContaining("STORE_INCOMPLETE")]);
  });

  it("sends secret headers only to the sites of the start URLs", async () => {
    const other = await originOf((_request, response) => void response.end("other"), { host: "127.0.0.2" });
    const site = await originOf({ "/": `<a href="${other.url}/x">x</a>` });
    const cwd = newFolder();

    await trawl(
      [
        "crawl",
        `${site.url}/`,
        "--scope",
        "any",
        "--header",
        "Authorization: Bearer s3cret",
        "--header",
        "Accept-Language: de",
        ...FAST,
      ],
      { cwd, env: { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8" } },
    );

    const seen = (log: typeof site.log) =>
      log.map(({ headers }) => [headers.authorization, headers["accept-language"]]);
    expect(seen(site.log)).toEqual([["Bearer s3cret", "de"]]);
    expect(seen(other.log)).toEqual([[undefined, "de"]]);
  });

  it("refuses flags and URLs that --resume would ignore", async () => {
    const [cwd, site] = [newFolder(), await originOf({ "/": "a" })];
    const { id } = lastJson<Summary>(await trawl(["crawl", `${site.url}/`, ...FAST], { cwd }));

    const withUrl = await trawl(["crawl", "--resume", id, "http://127.0.0.1:1/"], { cwd });
    const withFlag = await trawl(["crawl", "--resume", id, "--max-depth", "3"], { cwd });
    const unknown = await trawl(["crawl", "--resume", "nope"], { cwd });

    expect([withUrl.code, withUrl.stderr]).toEqual([2, expect.stringContaining("accepts no URLs")]);
    expect([withFlag.code, withFlag.stderr]).toEqual([2, expect.stringContaining("--max-depth")]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("NOT_FOUND")]);
  });

  it("reports an invalid setting before anything is queued", async () => {
    const cwd = newFolder();
    const end = await trawl(["crawl", "http://127.0.0.1:1/"], { cwd, env: { TRAWL_ALLOW_PRIVATE: "foo" } });
    const agent = await trawl(["crawl", "http://127.0.0.1:1/", "--user-agent", "Bot €"], { cwd });
    const jobs = lastJson<{ jobs: [] }>(await trawl(["jobs", "--json"], { cwd }));

    expect([end.code, end.stderr]).toEqual([2, expect.stringContaining("TRAWL_ALLOW_PRIVATE")]);
    expect([agent.code, agent.stderr]).toEqual([2, expect.stringContaining("userAgent")]);
    expect(jobs.jobs).toEqual([]);
  });
});
