import { writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { jsonLines, lastJson } from "../cli.ts";
import { FAST, type FleetBroker, newFleet, slowSite } from "../fleet/fleet.ts";
import { originOf } from "../sites.ts";
import { type PoolLine, poolLines } from "./pool.ts";

const GOOD = 200;
/** What the handlers of pages do: the first ends with its task known, the others kill their process three times. */
const POISONS = {
  "/loop": "for (;;);",
  "/hoard": "const kept = []; for (;;) kept.push(new Array(1e6).fill(kept.length));",
  "/abort": "process.abort();",
  "/exit": "process.exit(7);",
  "/never": "await new Promise(() => {});",
};
const KILLERS = ["/hoard", "/abort", "/exit"];
/** More than ten processes are started one after the other, which a busy machine takes a while for. */
const LONG_MS = 170_000;
const LIMITS = ["--time-limit", "10", "--max-memory-per-child", "192"];

type Letter = { url: string; reason: string; history: { detail: string }[] };

/** Pages whose handlers do the worst they can, among many that do no harm. */
export function poison(broker: FleetBroker): void {
  it(
    "ends with every poison page a dead letter, every good page done, and none blamed for another",
    async () => {
      const [fleet, site] = [await newFleet(broker), await originOf(page)];
      const good = Array.from({ length: GOOD }, (_, nth) => `/${nth}`);
      const paths = [...good];
      Object.keys(POISONS).forEach((path, nth) => void paths.splice(5 + nth * 40, 0, path));
      writeFileSync(join(fleet.cwd, "poisoned.mjs"), spider(paths.map((path) => site.url + path)));
      const { id } = await fleet.submit(["poisoned.mjs"]);

      const flags = ["--processes", "3", "-c", "4", "--drain", ...LIMITS];
      const end = await fleet.run(["worker", "--json", ...flags], { hangsAfterMs: LONG_MS });

      expect(end, end.stderr).toMatchObject({ code: 0 });
      const brought = { counts: { done: GOOD, dead: 5 }, tally: { pages: GOOD, records: GOOD } };
      expect(await fleet.job(id)).toMatchObject({ state: "finished", ...brought });
      const { dead } = lastJson<{ dead: Letter[] }>(await fleet.run(["dead", "--list", "--json"]));
      const reasons = dead.map(({ url, reason, history }) => [new URL(url).pathname, [reason, history.at(-1)?.detail]]);
      expect(Object.fromEntries(reasons)).toEqual({
        "/loop": ["time_limit", "it held its process up past the limit of 10s; the process was killed"],
        "/never": ["time_limit", "the task took longer than its limit of 10s"],
        "/hoard": ["crashed_worker", "the process that read it ran out of memory, for the third time"],
        "/abort": ["crashed_worker", "the process that read it died (SIGABRT), for the third time"],
        "/exit": ["crashed_worker", "the process that read it ended with exit code 7, for the third time"],
      });
      const records = jsonLines<{ _url: string }>((await fleet.run(["records", id])).stdout);
      expect(records.map(({ _url }) => new URL(_url).pathname).sort()).toEqual([...good].sort());
      expectJustDeaths(poolLines(end));
    },
    LONG_MS,
  );
}

/** Each process has died of a page that it was reading, and of none more often than it takes to be sure. */
function expectJustDeaths(lines: readonly PoolLine[]): void {
  const deaths = lines.filter(({ event }) => event === "pool.process_died");
  const read = deaths.map(({ underWay = [] }) =>
    underWay.filter(({ isReading }) => isReading).map(({ url }) => new URL(url).pathname),
  );
  const killing = (path: string) => read.filter((paths) => paths.includes(path));
  for (const path of KILLERS) expect(killing(path), path).toHaveLength(3);
  // Beside /never, which is being read for as long, either might be it: only once it is alone is it blamed.
  const loops = killing("/loop");
  expect(loops.map((paths) => paths.length > 1)).toEqual([...loops.slice(1).map(() => true), false]);
  expect(read).toHaveLength(3 * KILLERS.length + loops.length);
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
