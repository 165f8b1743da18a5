import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { originOf, pagesRequested } from "../sites.ts";
import { type Fleet, type FleetBroker, newFleet } from "./fleet.ts";

const PER_SECOND = 10;
const QUIET = ["--follow", "none", "--ignore-robots", "--rate", "unlimited", "--per-site", "1"];
const ROUTES = [
  { match: { job: "recall-*" }, queue: "high_priority", priority: 0 },
  { match: { url: "/slow/**" }, queue: "slow_lane", priority: 9 },
];

/** Tests routes, priorities and workers that serve only some queues. */
export function routing(broker: FleetBroker): void {
  it("fetches urgent tasks first, however many tasks were queued before them", async () => {
    const [fleet, site] = [await routedFleet(broker), await anySite()];
    writeFileSync(join(fleet.cwd, "batch.txt"), urlsOf(site.url, "batch", 60));
    writeFileSync(join(fleet.cwd, "recall.txt"), urlsOf(site.url, "recall", 10));
    await fleet.submit(["batch.txt", ...QUIET]);
    await fleet.submit(["recall.txt", "--name", "recall-7", ...QUIET]);

    const end = await fleet.run(["worker", "--queues", "high_priority,fetch", "-c", "1", "--drain", "--quiet"]);

    expect(end.code).toBe(0);
    const requested = pagesRequested(site);
    expect(requested).toHaveLength(70);
    expect(requested.slice(0, 10).filter((path) => !path.startsWith("/recall/"))).toEqual([]);
  });

  it("fetches an urgent task at a busy site within one term of the site", async () => {
    const site = await anySite();
    const fleet = await routedFleet(broker);
    writeFileSync(join(fleet.cwd, "batch.txt"), urlsOf(site.url, "batch", 600));
    const polite = ["--follow", "none", "--ignore-robots", "--rate", `${PER_SECOND}/s`];
    await fleet.submit(["batch.txt", ...polite]);
    const worker = await fleet.worker(["--queues", "high_priority,fetch"]);
    await site.waitForRequests(PER_SECOND);

    await fleet.submit([`${site.url}/recall/0`, "--name", "recall-8", ...polite]);
    const before = site.log.length;
    const isFetched = () => pagesRequested(site).includes("/recall/0");
    while (!isFetched()) await site.waitForRequests(site.log.length + 1);
    worker.kill("SIGTERM");
    await worker.ended;

    // Counts requests instead of time: a term lasts two seconds, and the site gets no more than its rate.
    const passed = pagesRequested(site).indexOf("/recall/0") - before;
    expect(passed).toBeLessThanOrEqual(2 * PER_SECOND);
  });

  it("routes start URLs, links and redirects, and a worker serves only its own queues", async () => {
    const page = (links: string) => `<h1>page</h1>${links}`;
    const site = await originOf({
      "/": page('<a href="/slow/1">one</a> <a href="/quick">quick</a> <a href="/moved">moved</a>'),
      "/slow/1": page(""),
      "/slow/2": page(""),
      "/slow/given": page(""),
      "/quick": page(""),
      "/moved": { status: 302, headers: { location: "/slow/2" } },
    });
    const fleet = await routedFleet(broker);
    const { id } = await fleet.submit([
      `${site.url}/`,
      `${site.url}/slow/given`,
      "--ignore-robots",
      "--rate",
      "unlimited",
    ]);
    const drain = (queue: string) => fleet.run(["worker", "--queues", queue, "--drain", "--quiet"]);

    expect((await drain("fetch")).code).toBe(0);
    expect(pagesRequested(site).sort()).toEqual(["/", "/moved", "/quick"]);
    expect(await fleet.job(id)).toMatchObject({ state: "running", counts: { queued: 3 } });
    const why = await fleet.run(["explain", `${site.url}/slow/2`]);
    expect(why.stdout).toMatch(/waits for a free worker on queue slow_lane/);
    const explained = await fleet.run(["explain", id]);
    expect(explained.stdout).toMatch(
      /use queue fetch, priority 5, unless one of these routes.*\n.*\/slow\/\*\*: queue slow_lane, /,
    );
    expect((await fleet.diagnose()).findings).toContainEqual(
      expect.objectContaining({ check: "queue slow_lane", fix: "start one with: trawl worker --queues slow_lane" }),
    );

    expect((await drain("slow_lane")).code).toBe(0);
    expect(pagesRequested(site).sort()).toEqual(["/", "/moved", "/quick", "/slow/1", "/slow/2", "/slow/given"]);
    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { done: 6 } });
  });
}

/** Tests that do not depend on the broker: routes are applied before a task reaches it. */
export function routingMessages(broker: FleetBroker): void {
  it("prefers the queue of the job to the routes of the submitter, and ignores the routes of the worker", async () => {
    const [fleet, site] = [await routedFleet(broker), await anySite()];
    const elsewhere = { TRAWL_ROUTES: '[{"match":{},"queue":"elsewhere"}]' };
    const named = await fleet.submit([`${site.url}/slow/1`, "--queue", "mine", ...QUIET]);
    const end = await fleet.run(["worker", "--queues", "mine", "--drain", "--quiet"], { env: elsewhere });

    expect(end.code).toBe(0);
    expect(await fleet.job(named.id)).toMatchObject({ state: "finished" });
    const unserved = await fleet.run(["submit", `${site.url}/slow/2`, ...QUIET]);
    expect(unserved.stderr).toMatch(/no worker serves the queues fetch, slow_lane;.* worker --queues fetch,slow_lane/);
  });

  it("refuses an invalid route before anything is queued, and names it", async () => {
    const fleet = await newFleet(broker);
    const routes = [ROUTES[0], { match: { domain: "a.*" }, queue: "x" }];
    writeFileSync(join(fleet.cwd, "trawl.config.ts"), `export default { routes: ${JSON.stringify(routes)} };`);

    const end = await fleet.run(["submit", "http://127.0.0.1:9/"]);

    expect(end).toMatchObject({ code: 2, stdout: "" });
    expect(end.stderr).toMatch(/BAD_CONFIG: .*trawl\.config\.ts: routes\[1\]\.match\.domain: "a\.\*" may have/);
  });
}

async function routedFleet(broker: FleetBroker): Promise<Fleet> {
  const fleet = await newFleet(broker);
  writeFileSync(join(fleet.cwd, "trawl.config.ts"), `export default { routes: ${JSON.stringify(ROUTES)} };`);
  return fleet;
}

async function anySite() {
  return originOf((_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<h1>page</h1>"));
}

function urlsOf(origin: string, folder: string, count: number): string {
  return Array.from({ length: count }, (_, n) => `${origin}/${folder}/${n}`).join("\n");
}
