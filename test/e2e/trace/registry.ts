import { expect, it } from "vitest";
import { lastJson } from "../cli.ts";
import { FAST, type FleetBroker, newFleet } from "../fleet/fleet.ts";
import { linksTo, originOf } from "../sites.ts";

type Listed = { pid: number; supervisor: string | null; queues: string[]; [field: string]: unknown };

/** Tests the list of `trawl workers`. */
export function registry(broker: FleetBroker): void {
  it("lists workers with their counts, and no longer lists a worker that has stopped", async () => {
    const fleet = await newFleet(broker);
    const site = await originOf({ "/": linksTo("/a", "/gone"), "/a": "<h1>a</h1>" });
    const list = async () => lastJson<{ workers: Listed[] }>(await fleet.run(["workers", "--json"])).workers;
    const none = await fleet.run(["workers"]);
    expect(none).toMatchObject({ code: 0, stdout: "" });
    expect(none.stderr).toMatch(/no workers; start one with: .*trawl worker/);
    const solo = await fleet.worker(["--pool", "solo", "--queues", "fetch,high_priority", "-c", "7"]);
    const pool = await fleet.worker(["--processes", "2", "--queues", "slow_lane"]);
    await fleet.submit([`${site.url}/`, "--ignore-robots", ...FAST]);

    const workers = await fleet.poll(list, (seen) => seen.length === 3 && seen.some(({ done }) => done === 2));

    expect(workers.find(({ pid }) => pid === solo.pid)).toMatchObject({
      ...{ host: expect.any(String), version: expect.stringMatching(/^\d/), queues: ["fetch", "high_priority"] },
      ...{ concurrency: 7, busy: 0, done: 2, failed: 1, supervisor: null, rssBytes: expect.any(Number) },
    });
    const children = workers.filter(({ supervisor }) => supervisor?.split("/")[1] === String(pool.pid));
    expect(children).toHaveLength(2);
    const text = (await fleet.run(["workers"])).stdout;
    expect(text).toMatch(/^WORKER .*QUEUES\n/);
    expect(text).toMatch(/3 workers on 1 machine/);
    for (const worker of [solo, pool]) worker.kill("SIGTERM");
    await Promise.all([solo.ended, pool.ended]);
    expect(await list()).toEqual([]);
  });
}
