/** What fails is told, and ends as it should: also quietly, for machines, and behind a redirect. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { jsonLines, lastJson, trawl } from "./cli.ts";
import { ensureDist } from "./dist.ts";
import { newFolder } from "./folder.ts";
import type { Summary } from "./ledger.ts";
import { originOf } from "./sites.ts";

beforeAll(ensureDist);

describe("a crawl of which no page came", () => {
  it("has failed, also where its start URL redirects to what is dead", async () => {
    const [cwd, site] = [
      newFolder(),
      await originOf({ "/": (_, response) => void response.writeHead(302, { location: "/gone" }).end() }),
    ];
    const end = await trawl(["crawl", `${site.url}/`, "--json"], { cwd });

    expect(end.code).toBe(1);
    expect(lastJson<Summary>(end)).toMatchObject({ state: "failed", pages: 0, counts: { done: 1, dead: 1 } });
    expect(end.stderr).toMatch(/failed after .*: no page could be fetched/);
  });

  it("says so also with --quiet", async () => {
    const [cwd, site] = [newFolder(), await originOf({ "/good": "<h1>x</h1>" })];
    const bad = await trawl(["crawl", `${site.url}/none`, "--quiet"], { cwd });
    const good = await trawl(["crawl", `${site.url}/good`, "--quiet"], { cwd });

    expect(bad.code).toBe(1);
    expect(bad.stderr).toMatch(/^failed after .*: no page could be fetched.*http_status 404, such as \S+\/none/s);
    expect(good).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("trawl worker --json", () => {
  it("has one object in every line of stderr, whatever a handler prints", async () => {
    const [cwd, site] = [newFolder(), await originOf({ "/": "<h1>x</h1>" })];
    writeFileSync(
      join(cwd, "loud.mjs"),
      `export default { name: "loud", start: ["${site.url}/"], politeness: { rate: "unlimited", robots: false },
        page() { console.error(new Error("oh no").stack); setTimeout(() => { throw new Error("astray"); }); return new Promise(() => {}); } };`,
    );
    const env = { TRAWL_ALLOW_PRIVATE: "127.0.0.0/8" };
    await trawl(["submit", "loud.mjs"], { cwd, env });
    const { stderr } = await trawl(["worker", "--drain", "--json"], { cwd, env });

    const said = jsonLines<{ event: string; text?: string }>(stderr).filter(({ event }) => event === "worker.said");
    expect(said.map(({ text }) => text)).toEqual(expect.arrayContaining(["Error: oh no"]));
    expect(said.some(({ text }) => text?.includes("threw in a callback"))).toBe(true);
  });
});

describe("trawl try", () => {
  it.each([
    ["--screenshot", "page.jpg", "page.png"],
    ["--pdf", "page.png", "page.pdf"],
  ])("refuses to call a file what it is not: %s %s", async (flag, file, better) => {
    const cwd = newFolder();
    const { code, stderr } = await trawl(["try", "http://127.0.0.1:9/", flag, file], { cwd });

    expect({ code, isWritten: existsSync(join(cwd, file)) }).toEqual({ code: 2, isWritten: false });
    expect(stderr).toContain(`name the file ${better}`);
  });
});
