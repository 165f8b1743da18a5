import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { lastJson } from "../cli.ts";
import { type FleetBroker, newFleet } from "../fleet/fleet.ts";
import { originOf } from "../sites.ts";
import { poolLines } from "./pool.ts";

/** What handlers throw where nobody can catch it. */
export function strays(broker: FleetBroker): void {
  it("fails the page whose handler throws in a timer, names it, and loses no process", async () => {
    const { fleet, site } = await straySite(broker, `setTimeout(() => { throw new Error("late") }, 5); await never;`);
    const { id } = await fleet.submit(["stray.mjs"]);

    const end = await (await fleet.worker(["--drain"])).ended;

    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { done: 3, dead: 1 } });
    const { dead } = lastJson<{ dead: unknown[] }>(await fleet.run(["dead", "--list", "--json"]));
    expect(dead).toMatchObject([{ reason: "handler_failed", history: [{ detail: "Error: late" }] }]);
    expect(end.stderr).toContain(`trawl: the handler of ${site.url}/bad threw in a callback`);
    expect(poolLines(end).filter(({ event }) => event === "pool.process_died")).toEqual([]);
  });

  it("fails the page whose handler awaits something else than the promise that is rejected; later ones are logged", async () => {
    const does = `
      const reject = async () => { throw new Error("unheard") };
      void reject(); await new Promise((go) => setTimeout(go, 60_000));`;
    const { fleet, site } = await straySite(broker, does, `setTimeout(() => Promise.reject(new Error("later")), 20);`);
    const { id } = await fleet.submit(["stray.mjs"]);

    const end = await (await fleet.worker(["--drain"])).ended;

    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { done: 3, dead: 1 } });
    const { dead } = lastJson<{ dead: unknown[] }>(await fleet.run(["dead", "--list", "--json"]));
    expect(dead).toMatchObject([{ reason: "handler_failed", history: [{ detail: "Error: unheard" }] }]);
    expect(end.stderr).toContain(`trawl: the handler of ${site.url}/bad has a promise that nobody awaits`);
    const later = poolLines(end).filter(({ event }) => event === "worker.stray_error");
    expect(later[0]).toMatchObject({ jobId: id, taskId: expect.any(String), url: expect.stringMatching(/\/[123]$/) });
  });

  it("is not ended in silence by a handler that ends the process", async () => {
    const { fleet, site } = await straySite(broker, "process.exit(0);");
    const supervised = await fleet.run(["crawl", "stray.mjs", "--quiet"]);
    const crawl = await fleet.run(["crawl", "stray.mjs", "--quiet"], { env: { TRAWL_POOL: "solo" } });
    await fleet.submit(["stray.mjs"]);
    const solo = await fleet.run(["worker", "--pool", "solo", "--quiet"]);

    // Where another process looks after it, it costs its page alone.
    expect([supervised, crawl, solo].map(({ code }) => code)).toEqual([0, 1, 1]);
    for (const end of [supervised, crawl, solo]) {
      expect(end.stderr).toContain(`trawl: the handler of ${site.url}/bad has ended this process with process.exit(0)`);
    }
  });
}

/** Four pages, of which the handler does this to one. */
async function straySite(broker: FleetBroker, does: string, othersDo = "") {
  const [fleet, site] = [await newFleet(broker), await originOf((_, response) => void response.end("<h1>page</h1>"))];
  const start = ["/1", "/2", "/bad", "/3"].map((path) => site.url + path);
  const spider = `
    const never = new Promise(() => {});
    export default {
      name: "stray", start: ${JSON.stringify(start)}, politeness: { rate: "unlimited", robots: false },
      async page({ url, emit }) { if (url.endsWith("/bad")) { ${does} } else { ${othersDo} } emit({ url }); },
    };
  `;
  writeFileSync(join(fleet.cwd, "stray.mjs"), spider);
  return { fleet, site };
}
