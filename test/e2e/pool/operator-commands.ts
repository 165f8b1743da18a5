import { hostname } from "node:os";
import { expect, it } from "vitest";
import { isRunning } from "../../services/is-running.ts";
import { duplicates, missing } from "../../site/loss-checker.ts";
import { jsonLines, lastJson } from "../cli.ts";
import { FAST, type FleetBroker, newFleet, slowSite } from "../fleet/fleet.ts";
import { linkedSite, pagesRequested } from "../sites.ts";
import { poolLines, started } from "./pool.ts";

/** Tests commands that an operator sends to workers through the broker. */
export function operatorCommands(broker: FleetBroker): void {
  it("recycles a process and drains a supervisor, which exits with 0; every page is fetched once", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 150 })];
    const pool = await fleet.worker(["--processes", "2"]);
    const { id } = await fleet.submit([`${site.url}/`, "--rate", "10/s", "--per-site", "4"]);
    await site.waitForRequests(2);
    const [first = 0] = started(poolLines(pool.output()));

    const recycled = await fleet.poll(
      () => fleet.run(["workers", "recycle", `${hostname()}/${first}`, "--json"]),
      ({ code }) => code === 0, // once the worker is registered
    );
    expect(lastJson(recycled)).toMatchObject({ command: "recycle", workers: [expect.stringContaining(`/${first}/`)] });
    await pool.prints(new RegExp(`"pool.process_ended".*"pid":${first},"code":0`));
    const drained = await fleet.run(["workers", "drain", "--all"]);
    expect(drained, drained.stderr).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/sent drain to \d+ workers?: /),
    });

    const end = await pool.ended;
    expect(end, end.stderr).toMatchObject({ code: 0 });
    const lines = poolLines(end);
    expect(started(lines).filter(isRunning)).toEqual([]);
    expect(started(lines)).toHaveLength(3);
    expect(lines.filter(({ event }) => ["pool.process_died", "worker.stopping"].includes(event))).toEqual([]);
    expect(lines.filter(({ event }) => event === "worker.command_received")).toHaveLength(1);
    const { counts } = await fleet.job(id);
    expect(counts).toMatchObject({ leased: 0, dead: 0 });
    expect(counts.queued).toBeGreaterThan(0);
    await fleet.run(["change", id, "--rate", "unlimited"]);
    expect(await (await fleet.worker(["--drain"])).ended).toMatchObject({ code: 0 });
    const records = jsonLines<{ _url: string }>((await fleet.run(["records", id])).stdout).map(({ _url }) => _url);
    expect(missing(site.expectedPages(), records)).toEqual([]);
    expect(duplicates(pagesRequested(site))).toEqual(new Map());
  });
}

/** Tests commands to a worker without a supervisor. They do not depend on the broker. */
export function drainingSolo(broker: FleetBroker): void {
  it("returns tasks that take too long when it is drained, and cannot be recycled without a supervisor", async () => {
    const [fleet, { site }] = [await newFleet(broker), await slowSite()];
    const worker = await fleet.worker(["--pool", "solo"], { TRAWL_GRACE: "100ms" });
    const { id } = await fleet.submit([`${site.url}/`, "--ignore-robots", ...FAST]);
    await site.waitForRequests(2);
    const name = `${hostname()}/${worker.pid}`;

    const refused = await fleet.run(["workers", "recycle", name]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/COMMAND_REFUSED: .*no supervisor/) });
    expect(await fleet.run(["workers", "drain", name])).toMatchObject({ code: 0 });

    expect(await worker.ended).toMatchObject({ code: 0 });
    expect((await fleet.job(id)).counts).toMatchObject({ done: 1, queued: 1, leased: 0, dead: 0 });
  });
}
