import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { duplicates } from "../../site/loss-checker.ts";
import { lastJson } from "../cli.ts";
import { FAST, type FleetBroker, newFleet } from "../fleet/fleet.ts";
import { linkedSite, originOf, pagesRequested } from "../sites.ts";
import { poolLines, started } from "./pool.ts";

/** Tests processes that reach --max-tasks-per-child. */
export function recycling(broker: FleetBroker): void {
  it("replaces a process after its maximum number of tasks, and loses or repeats no page", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 60 })];
    const { id } = await fleet.submit([`${site.url}/`, ...FAST]);

    const end = await (await fleet.worker(["--processes", "2", "--max-tasks-per-child", "12", "--drain"])).ended;

    expect(end, end.stderr).toMatchObject({ code: 0 });
    const { counts, state } = await fleet.job(id);
    expect({ state, dead: counts.dead }).toEqual({ state: "finished", dead: 0 });
    const { tasks } = lastJson<{ tasks: number }>(end);
    expect(tasks).toBeGreaterThanOrEqual(counts.done);
    expect(duplicates(pagesRequested(site))).toEqual(new Map());
    const lines = poolLines(end);
    expect(started(lines).length).toBeGreaterThanOrEqual(Math.ceil(tasks / 12));
    expect(lines.filter(({ event }) => event === "pool.process_died")).toEqual([]);
  });
}

/** Tests processes that use too much memory, and a worker without a supervisor. */
export function memoryLimits(broker: FleetBroker): void {
  it("replaces a process that uses too much memory before it crashes", async () => {
    const fleet = await newFleet(broker);
    const site = await originOf((_, response) => void response.end("<h1>leak</h1>"));
    const spider = `
      const kept = [];
      export default {
        name: "leaky", start: Array.from({ length: 12 }, (_, nth) => "${site.url}/" + nth),
        politeness: { rate: "4/s", robots: false },
        page({ url, emit }) { kept.push(Buffer.alloc(20e6, 1)); emit({ url }); },
      };`;
    writeFileSync(join(fleet.cwd, "leaky.mjs"), spider);
    const { id } = await fleet.submit(["leaky.mjs"]);

    const end = await (await fleet.worker(["--max-memory-per-child", "160", "--drain"])).ended;

    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { done: 12, dead: 0 } });
    const lines = poolLines(end);
    expect(started(lines).length).toBeGreaterThan(1);
    expect(lines.filter(({ event }) => event === "pool.process_died")).toEqual([]);
  });

  it("exits after its maximum number of tasks with --pool solo", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 10, disallowedEvery: 0 })];
    await fleet.submit([`${site.url}/`, ...FAST]);

    const end = await fleet.run(["worker", "--json", "--pool", "solo", "--max-tasks-per-child", "4"]);

    expect(end).toMatchObject({ code: 0 });
    expect(lastJson(end)).toMatchObject({ tasks: 4 });
    expect(started(poolLines(end))).toEqual([]);
    const refused = await fleet.run(["worker", "--pool", "solo", "--processes", "2"]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("BAD_CONFIG: --pool solo") });
  });
}
