/** Tests spiders that block or end their process: a user can still stop the crawl and resume it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { lastJson, startTrawl, trawl } from "./cli.ts";
import { newFolder } from "./folder.ts";
import type { Summary } from "./ledger.ts";
import { originOf } from "./sites.ts";

type Spider = { page?: string; top?: string };

async function spiderFolder(first: Spider) {
  const [cwd, site] = [newFolder(), await originOf({ "/a": "<h1>a</h1>", "/b": "<h1>b</h1>" })];
  function write({ page = "", top = "" }: Spider): void {
    writeFileSync(
      join(cwd, "spider.mjs"),
      `import { writeSync } from "node:fs";
      ${top}
      export default {
        name: "endless", start: ["${site.url}/a", "${site.url}/b"], politeness: { rate: "unlimited", robots: false },
        page({ url, emit }) { emit({ url }); if (url.endsWith("/a")) { ${page} } },
      };`,
    );
  }
  write(first);
  return { cwd, site, write };
}

const FOREVER = 'writeSync(2, "looping\\n"); for (;;);';
const CRAWL = ["crawl", "spider.mjs", "--json"];

describe("a handler that loops forever", () => {
  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("is stopped by %s, and nothing is lost", async (signal) => {
    const { cwd, write } = await spiderFolder({ page: FOREVER });
    const crawl = startTrawl(CRAWL, { cwd, env: { TRAWL_GRACE: "50ms" } });
    await crawl.prints(/looping/);
    crawl.kill(signal);
    const end = await crawl.ended;

    expect(end, end.stderr).toMatchObject({ code: 130 });
    const { id, state, counts } = lastJson<Summary>(end);
    expect({ state, counts }).toMatchObject({ state: "paused", counts: { leased: 0, dead: 0 } });
    expect(end.stderr).toContain(`crawl --resume ${id}`);
    write({});
    const resumed = await trawl(["crawl", "--resume", "--json"], { cwd });
    expect(lastJson<Summary>(resumed)).toMatchObject({
      id,
      state: "finished",
      records: 2,
      counts: { done: 2, dead: 0 },
    });
  });

  it("ends at once at the second Ctrl-C, and prints how to resume", async () => {
    const { cwd, write } = await spiderFolder({ page: FOREVER });
    const crawl = startTrawl(CRAWL, { cwd, env: { TRAWL_GRACE: "10m" } });
    await crawl.prints(/looping/);
    crawl.kill("SIGINT");
    await crawl.prints(/stopping/);
    crawl.kill("SIGINT");
    const end = await crawl.ended;

    expect(end, end.stderr).toMatchObject({ code: 130, stdout: "" });
    expect(end.stderr).toMatch(/resume +\S.*crawl --resume \w+/);
    write({});
    const resumed = await trawl(["crawl", "--resume", "--json"], { cwd });
    expect(lastJson<Summary>(resumed)).toMatchObject({ state: "finished", records: 2, counts: { dead: 0 } });
  });
});

describe("a spider's module", () => {
  it.each(["crawl", "submit"])("that loops forever while it is loaded is stopped by Ctrl-C in %s", async (command) => {
    const { cwd } = await spiderFolder({ top: FOREVER });
    const run = startTrawl([command, "spider.mjs"], { cwd });
    await run.prints(/looping/);
    run.kill("SIGINT");

    expect(await run.ended).toMatchObject({ code: 130, signal: null });
  });

  it("that ends its process while it is loaded is reported", async () => {
    const { cwd } = await spiderFolder({ top: "process.exit(0);" });
    const { code, stderr } = await trawl(CRAWL, { cwd });

    expect(code).toBe(2);
    expect(stderr).toMatch(/^trawl: BAD_SPIDER: spider\.mjs: calls process\.exit\(0\) while loading; /);
  });

  it("can print: its output goes to stderr, and stdout contains only results", async () => {
    const { cwd } = await spiderFolder({ top: 'console.log("chatter");' });
    const { code, stdout, stderr } = await trawl(CRAWL, { cwd });

    expect({ code, lines: stdout.trim().split("\n").length }).toEqual({ code: 0, lines: 1 });
    expect(stderr).toContain("chatter");
  });
});

describe("a handler that ends its process", () => {
  it("fails only its page", async () => {
    const { cwd } = await spiderFolder({ page: "process.exit(0);" });
    const end = await trawl(CRAWL, { cwd });

    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(lastJson<Summary>(end)).toMatchObject({ state: "finished", records: 1, counts: { done: 1, dead: 1 } });
  });

  it("ends the crawl if it runs in the crawl's own process; the crawl prints how to resume", async () => {
    const { cwd, write } = await spiderFolder({ page: "process.exit(0);" });
    const end = await trawl(CRAWL, { cwd, env: { TRAWL_POOL: "solo" } });

    expect(end, end.stderr).toMatchObject({ code: 1 });
    expect(end.stderr).toMatch(/ended this process with process\.exit\(0\)/);
    expect(end.stderr).toMatch(/resume +\S.*crawl --resume \w+/);
    write({});
    const resumed = await trawl(["crawl", "--resume", "--json"], { cwd });
    expect(lastJson<Summary>(resumed)).toMatchObject({ state: "finished", records: 2, counts: { dead: 0 } });
  });
});
