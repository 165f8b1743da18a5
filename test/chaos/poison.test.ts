/** Tests a page that kills every process that handles it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CliEnd, lastJson, trawl } from "../e2e/cli.ts";
import { newFolder } from "../e2e/folder.ts";
import { expectBalanced, type Summary } from "../e2e/ledger.ts";
import { originOf, pagesRequested } from "../e2e/sites.ts";
import type { Origin } from "../site/origin.ts";

describe("a page that kills its worker", () => {
  it("fails after three deaths, and the crawl continues", async () => {
    const { site, cwd } = await openPoisoned();

    const run = await trawl(["crawl", "spider.mjs", "-c", "1", "--json", "--quiet"], { cwd });

    expect(run.code).toBe(0);
    await expectGivenUp(run, { site, cwd });
  });

  it("fails after three deaths if the crawl itself is the worker and is resumed each time", async () => {
    const { site, cwd } = await openPoisoned();
    const options = { cwd, env: { TRAWL_POOL: "solo" } };

    const runs = [await trawl(["crawl", "spider.mjs", "-c", "1", "--json", "--quiet"], options)];
    while (runs.at(-1)?.signal === "SIGKILL" && runs.length < 6) {
      runs.push(await trawl(["crawl", "--resume", "-c", "1", "--json", "--quiet"], options));
    }

    expect(runs.map(({ code, signal }) => code ?? signal)).toEqual(["SIGKILL", "SIGKILL", "SIGKILL", 0]);
    await expectGivenUp(runs.at(-1), { site, cwd });
  });
});

async function openPoisoned(): Promise<{ site: Origin; cwd: string }> {
  const paths = ["/a", "/poison", "/b", "/c"];
  const cwd = newFolder();
  const site = await originOf(Object.fromEntries(paths.map((path) => [path, `<h1>${path}</h1>`])));
  const spider = `
    export default {
      name: "poisoned",
      start: ${JSON.stringify(paths.map((path) => site.url + path))},
      politeness: { rate: "unlimited", robots: false },
      page({ url, emit }) {
        if (url.endsWith("/poison")) process.kill(process.pid, "SIGKILL");
        emit({ url });
      },
    };
  `;
  writeFileSync(join(cwd, "spider.mjs"), spider);
  return { site, cwd };
}

async function expectGivenUp(last: CliEnd | undefined, { site, cwd }: { site: Origin; cwd: string }): Promise<void> {
  const summary = last === undefined ? undefined : lastJson<Summary>(last);
  expect(summary).toMatchObject({ state: "finished", records: 3, counts: { done: 3, dead: 1 } });
  if (summary !== undefined) expectBalanced(summary.counts);
  const { dead } = lastJson<{ dead: unknown[] }>(await trawl(["dead", "--list", "--json"], { cwd }));
  expect(dead).toMatchObject([{ url: `${site.url}/poison`, reason: "crashed_worker" }]);
  expect(pagesRequested(site).filter((path) => path === "/poison")).toHaveLength(3);
}
