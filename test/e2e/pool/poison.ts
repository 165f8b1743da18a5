import { writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { jsonLines, lastJson } from "../cli.ts";
import { FAST, type FleetBroker, newFleet, slowSite } from "../fleet/fleet.ts";
import { originOf } from "../sites.ts";
import { poolLines } from "./pool.ts";

const GOOD = 60;
const POISONS = {
  "/loop": "for (;;);",
  "/hoard": "const kept = []; for (;;) kept.push(new Array(1000).fill(kept.length));",
  "/abort": "process.abort();",
  "/exit": "process.exit(0);",
  "/never": "await new Promise(() => {});",
};
const LIMITS = ["--time-limit", "3", "--max-memory-per-child", "192"];

/** Pages whose handlers do the worst they can, among many that do no harm. */
export function poison(broker: FleetBroker): void {
  it("ends with every poison page a dead letter, every good page done, and none blamed for another", async () => {
    const [fleet, site] = [await newFleet(broker), await originOf(page)];
    const good = Array.from({ length: GOOD }, (_, nth) => `/${nth}`);
    const paths = [...good];
    Object.keys(POISONS).forEach((path, nth) => void paths.splice(5 + nth * 12, 0, path));
    writeFileSync(join(fleet.cwd, "poisoned.mjs"), spider(paths.map((path) => site.url + path)));
    const { id } = await fleet.submit(["poisoned.mjs"]);

    const pool = await fleet.worker(["--processes", "2", "-c", "4", "--drain", ...LIMITS]);
    const end = await pool.ended;

    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { done: GOOD, dead: 5 } });
    const { dead } = lastJson<{ dead: { url: string; reason: string }[] }>(
      await fleet.run(["dead", "--list", "--json"]),
    );
    expect(Object.fromEntries(dead.map(({ url, reason }) => [new URL(url).pathname, reason]))).toEqual({
      "/loop": "crashed_worker",
      "/hoard": "crashed_worker",
      "/abort": "crashed_worker",
      "/exit": "crashed_worker",
      "/never": "time_limit",
    });
    const records = jsonLines<{ _url: string }>((await fleet.run(["records", id])).stdout);
    expect(records.map(({ _url }) => new URL(_url).pathname).sort()).toEqual([...good].sort());
    expect(lastJson(end)).toMatchObject({ records: GOOD });
    const deaths = poolLines(end).filter(({ event }) => event === "pool.process_died");
    // Three for each that kills; two that are under way together share one.
    expect(deaths.length).toBeLessThanOrEqual(12);
    const held = deaths.map(({ underWay = [] }) => underWay.map(({ url }) => new URL(url).pathname));
    for (const paths of held) expect(paths).toSatisfy((found: string[]) => found.some((path) => path in POISONS));
    const stuck = deaths.filter(({ killed }) => killed === "time_limit");
    expect(stuck.filter(({ underWay = [] }) => underWay.some(({ url }) => url.endsWith("/loop")))).toHaveLength(3);
  });
}

/** Tasks that take too long in a process that is well. */
export function lateness(broker: FleetBroker): void {
  it("ends a task that waits too long for its site, to try it again", async () => {
    const [fleet, { site, open }] = [await newFleet(broker), await slowSite()];
    const retries = { TRAWL_RETRIES: "1", TRAWL_BACKOFF: "10ms" };
    const { id } = await fleet.submit([`${site.url}/slow`, "--ignore-robots", ...FAST], { env: retries });

    const end = await (await fleet.worker(["--soft-time-limit", "0.3", "--drain"])).ended;

    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect((await fleet.job(id)).counts).toMatchObject({ done: 0, dead: 1 });
    const { dead } = lastJson<{ dead: unknown[] }>(await fleet.run(["dead", "--list", "--json"]));
    const late = { because: "timeout", detail: "the task took longer than its limit of 300ms" };
    expect(dead).toMatchObject([{ reason: "retries_spent", history: [late, late] }]);
    open();
  });
}

function page({ url = "" }: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/html" }).end(`<h1>${url}</h1>`);
}

function spider(start: readonly string[]): string {
  const cases = Object.entries(POISONS).map(([path, does]) => `case "${path}": { ${does} }`);
  return `
    export default {
      name: "poisoned",
      start: ${JSON.stringify(start)},
      politeness: { rate: "unlimited", perSite: 8, robots: false },
      async page({ url, emit }) {
        switch (new URL(url).pathname) { ${cases.join("\n")} }
        emit({ url });
      },
    };
  `;
}
