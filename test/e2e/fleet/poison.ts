import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Arrival } from "../../site/origin.ts";
import { type CliEnd, lastJson } from "../cli.ts";
import { originOf } from "../sites.ts";
import { type Fleet, type FleetBroker, newFleet } from "./fleet.ts";

const GOOD = 60;
const AT_ONCE = 16;
const WORKERS_MAX = 10;

/** Tests one page that kills every worker that handles it, among many good pages. */
export function poison(broker: FleetBroker): void {
  it("fails a page that kills its workers, and none of the pages that were running at the same time", async () => {
    const [fleet, { site, paths, open }] = [await newFleet(broker), await poisonedSite()];
    writeFileSync(join(fleet.cwd, "poisoned.mjs"), spider(paths.map((path) => site.url + path)));
    const { id } = await fleet.submit(["poisoned.mjs"]);

    const ends = await runWorkers(fleet, (deaths) => {
      if (deaths === 2) open();
    });

    // Two workers die while other tasks run. The third worker dies while this page runs alone.
    expect(ends.map(({ code, signal }) => code ?? signal)).toEqual(["SIGKILL", "SIGKILL", "SIGKILL", 0]);
    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { done: GOOD, dead: 1 } });
    const { dead } = lastJson<{ dead: unknown[] }>(await fleet.run(["dead", "--list", "--json"]));
    expect(dead).toMatchObject([{ url: `${site.url}/poison`, reason: "crashed_worker" }]);
    const requests = site.log.filter(({ path }) => path === "/poison");
    expect(requests.map((request) => otherRequests(request, site.log))).toEqual([AT_ONCE - 1, AT_ONCE - 1, 0]);
  });
}

/**
 * Starts workers one after the other until one survives. Calls `onDeath` after each death, with the number of deaths.
 */
async function runWorkers(fleet: Fleet, onDeath: (deaths: number) => void): Promise<CliEnd[]> {
  const ends: CliEnd[] = [];
  while (ends.length < WORKERS_MAX) {
    const worker = await fleet.worker(["--pool", "solo", "--drain", "-c", String(AT_ONCE)]);
    const end = await worker.ended;
    ends.push(end);
    if (end.signal === null) break;
    onDeath(ends.length);
  }
  return ends;
}

/**
 * Answers good pages only after `open`. Until then, answers the poison page only when the worker has reached its
 * concurrency with requests for other pages.
 */
async function poisonedSite() {
  const paths = Array.from({ length: GOOD }, (_, nth) => `/${nth}`);
  paths.splice(5, 0, "/poison");
  let poisonRequests = 0;
  let isOpen = false;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = () => {
      isOpen = true;
      resolve();
    };
  });
  const site = await originOf(async ({ url = "" }, response) => {
    if (url === "/poison") poisonRequests += 1;
    if (url !== "/poison") await opened;
    else if (!isOpen) await site.waitForRequests(poisonRequests * AT_ONCE);
    response.writeHead(200, { "content-type": "text/html" }).end(`<h1>${url}</h1>`);
  });
  return { site, paths, open };
}

function spider(start: readonly string[]): string {
  return `
    export default {
      name: "poisoned",
      start: ${JSON.stringify(start)},
      politeness: { rate: "unlimited", perSite: ${AT_ONCE}, robots: false },
      page({ url, emit }) {
        if (url.endsWith("/poison")) process.kill(process.pid, "SIGKILL");
        emit({ url });
      },
    };
  `;
}

/** How many other requests were under way when the poison page was answered. */
function otherRequests(arrival: Arrival, log: readonly Arrival[]): number {
  const { endedAt = Number.POSITIVE_INFINITY } = arrival;
  return log.filter((other) => {
    const until = other.endedAt ?? Number.POSITIVE_INFINITY;
    return other !== arrival && other.arrivedAt < endedAt && until > endedAt;
  }).length;
}
