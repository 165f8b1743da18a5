import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isRunning } from "../../services/is-running.ts";
import { duplicates, missing } from "../../site/loss-checker.ts";
import { jsonLines, type RunningCli } from "../cli.ts";
import { FAST, type FleetBroker, newFleet, slowSite } from "../fleet/fleet.ts";
import { linkedSite, originOf, pagesRequested } from "../sites.ts";
import { poolLines, started, untilEnded } from "./pool.ts";

const TWO = ["--processes", "2"];

/** Tests signals to the supervisor. */
export function stopping(broker: FleetBroker): void {
  it.each(["SIGTERM", "SIGINT"] as const)("loses and repeats nothing at %s", async (signal) => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 80 })];
    const pool = await fleet.worker(TWO, { TRAWL_GRACE: "1m" });
    const { id } = await fleet.submit([`${site.url}/`, "--rate", "60/s", "--per-site", "8"]);
    await site.waitForRequests(25);
    pool.kill(signal);

    const end = await pool.ended;
    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(started(poolLines(end)).filter(isRunning)).toEqual([]);
    const { counts } = await fleet.job(id);
    expect(counts.leased).toBe(0);
    expect(counts.queued).toBeGreaterThan(0);
    expect(await (await fleet.worker([...TWO, "--drain"])).ended).toMatchObject({ code: 0 });
    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { dead: 0 } });
    const records = jsonLines<{ _url: string }>((await fleet.run(["records", id])).stdout).map(({ _url }) => _url);
    expect(missing(site.expectedPages(), records)).toEqual([]);
    expect(duplicates(pagesRequested(site))).toEqual(new Map());
  });

  it("returns tasks that do not finish within the grace period", async () => {
    const [fleet, { site, open }] = [await newFleet(broker), await slowSite()];
    const pool = await fleet.worker(TWO, { TRAWL_GRACE: "100ms" });
    const { id } = await fleet.submit([`${site.url}/`, "--ignore-robots", ...FAST]);
    await site.waitForRequests(2);
    pool.kill("SIGTERM");

    expect(await pool.ended).toMatchObject({ code: 0 });
    expect((await fleet.job(id)).counts).toMatchObject({ done: 1, queued: 1, leased: 0 });
    open();
  });
}

/** Tests blocked processes and killed supervisors. They do not depend on the broker. */
export function blockedProcesses(broker: FleetBroker): void {
  it.each([[], TWO])("stops at a signal although all its handlers block, and exits with 0 (%s)", async (...flags) => {
    const fleet = await newFleet(broker);
    const site = await originOf((_, response) => void response.end("<h1>loop</h1>"));
    writeFileSync(join(fleet.cwd, "stuck.mjs"), stuckSpider([`${site.url}/1`, `${site.url}/2`]));
    const pool = await fleet.worker(["-c", "1", ...flags], { TRAWL_GRACE: "100ms" });
    const { id } = await fleet.submit(["stuck.mjs"]);
    await pool.prints(/stuck at/);
    pool.kill("SIGINT");

    const end = await pool.ended;
    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(poolLines(end).filter(({ killed }) => killed === "stop_timeout").length).toBeGreaterThan(0);
    expect((await fleet.job(id)).counts).toMatchObject({ queued: 2, leased: 0, dead: 0 });
  });

  it("ends at once at the second signal with 130, and ends its processes", async () => {
    const [fleet, { site, open }] = [await newFleet(broker), await slowSite()];
    const pool = await fleet.worker(TWO, { TRAWL_GRACE: "10m", TRAWL_LEASE: "2s" });
    const { id } = await fleet.submit([`${site.url}/`, "--ignore-robots", ...FAST]);
    await site.waitForRequests(2);
    pool.kill("SIGTERM");
    await pool.prints(/"worker\.stopping"/);
    pool.kill("SIGTERM");

    const end = await pool.ended;
    expect(end).toMatchObject({ code: 130, stdout: "" });
    await untilEnded(started(poolLines(end)));
    open();
    await (await fleet.worker([...TWO, "--drain"])).ended;
    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { done: 4, dead: 0 } });
  });

  it("leaves no process behind when the supervisor is killed: idle, busy or blocked", async () => {
    const fleet = await newFleet(broker);
    const site = await originOf({ "/loop": "<h1>loop</h1>" });
    writeFileSync(join(fleet.cwd, "stuck.mjs"), stuckSpider([`${site.url}/loop`]));
    const pool = await fleet.worker(TWO, { TRAWL_GRACE: "100ms" });
    const pids = await childrenOf(pool);
    await fleet.submit(["stuck.mjs"]);
    await site.waitForRequests(1);
    pool.kill("SIGKILL");

    expect(await pool.ended).toMatchObject({ signal: "SIGKILL" });
    await untilEnded(pids);
  });

  it("lets its processes finish their tasks when the supervisor is killed", async () => {
    const [fleet, { site, open }] = [await newFleet(broker), await slowSite()];
    const pool = await fleet.worker(TWO, { TRAWL_GRACE: "20s" });
    const pids = await childrenOf(pool);
    const { id } = await fleet.submit([`${site.url}/`, "--ignore-robots", ...FAST]);
    await site.waitForRequests(2);
    pool.kill("SIGKILL");
    await pool.ended;
    open();

    await untilEnded(pids);
    const { counts } = await fleet.job(id);
    // Tasks that were running when the processes noticed the death of the supervisor are done; the others are queued.
    expect(counts).toMatchObject({ leased: 0, dead: 0, delayed: 0 });
    expect(counts.done).toBeGreaterThanOrEqual(2);
    expect(counts.done + counts.queued).toBe(4);
    expect(pagesRequested(site).filter((path) => path === "/slow")).toHaveLength(1);
  });
}

/** The handler prints a line, then blocks. */
function stuckSpider(start: readonly string[]): string {
  return `
    import { writeSync } from "node:fs";
    export default {
      name: "stuck", start: ${JSON.stringify(start)}, politeness: { rate: "unlimited", robots: false },
      page({ url }) { writeSync(2, "stuck at " + url + "\\n"); for (;;); },
    };
  `;
}

async function childrenOf(pool: RunningCli): Promise<number[]> {
  await pool.prints(/"pool\.process_started","process":1/);
  await pool.prints(/"pool\.process_started","process":2/);
  return started(poolLines({ stderr: pool.output().stderr }));
}
