import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { deferred } from "../../../src/runtime/deferred.ts";
import { lastJson } from "../cli.ts";
import { type FleetBroker, newFleet } from "../fleet/fleet.ts";
import { originOf } from "../sites.ts";
import { poolLines } from "./pool.ts";

/** Tests errors that handlers throw outside of the worker's error handling. */
export function handlerErrors(broker: FleetBroker): void {
  it("fails the page whose handler throws in a timer, names the page, and keeps the process", async () => {
    const { fleet, site } = await siteWithSpider(
      broker,
      `setTimeout(() => { throw new Error("late") }, 5); await never;`,
    );
    const { id } = await fleet.submit(["faulty.mjs"]);

    const end = await (await fleet.worker(["--drain"])).ended;

    expect(end, end.stderr).toMatchObject({ code: 0 });
    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { done: 3, dead: 1 } });
    const { dead } = lastJson<{ dead: unknown[] }>(await fleet.run(["dead", "--list", "--json"]));
    expect(dead).toMatchObject([
      {
        reason: "handler_failed",
        history: [{ detail: expect.stringMatching(/^Error: late at \S*faulty\.mjs:\d+:\d+$/) }],
      },
    ]);
    expect(end.stderr).toContain(`trawl: the handler of ${site.url}/bad threw an uncaught error in a callback`);
    expect(poolLines(end).filter(({ event }) => event === "pool.process_died")).toEqual([]);
  });

  it("fails a page whose handler does not await a rejected promise, and logs errors of ended handlers", async () => {
    const onBad = `
      const reject = async () => { throw new Error("not awaited") };
      void reject(); await new Promise((go) => setTimeout(go, 60_000));`;
    // The timer fires after the handler has ended. The worker must still run at that time, so the site answers /bad
    // only after a request for /logged.
    const onGood = `setTimeout(() => {
      Promise.reject(new Error("later"));
      setTimeout(() => fetch(new URL("/logged", url)), 0);
    }, 20);`;
    const { fleet, site } = await siteWithSpider(broker, onBad, onGood);
    const { id } = await fleet.submit(["faulty.mjs"]);

    const end = await (await fleet.worker(["--drain"])).ended;

    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { done: 3, dead: 1 } });
    const { dead } = lastJson<{ dead: unknown[] }>(await fleet.run(["dead", "--list", "--json"]));
    expect(dead).toMatchObject([
      {
        reason: "handler_failed",
        history: [{ detail: expect.stringMatching(/^Error: not awaited at \S*faulty\.mjs:\d+:\d+$/) }],
      },
    ]);
    expect(end.stderr).toContain(`trawl: a promise in the handler of ${site.url}/bad was rejected and not awaited`);
    const later = poolLines(end).filter(({ event }) => event === "worker.late_handler_error");
    expect(later[0]).toMatchObject({ jobId: id, taskId: expect.any(String), url: expect.stringMatching(/\/[123]$/) });
  });

  it("reports the page whose handler calls process.exit", async () => {
    const { fleet, site } = await siteWithSpider(broker, "process.exit(0);");
    const supervised = await fleet.run(["crawl", "faulty.mjs", "--quiet"]);
    const crawl = await fleet.run(["crawl", "faulty.mjs", "--quiet"], { env: { TRAWL_POOL: "solo" } });
    await fleet.submit(["faulty.mjs"]);
    const solo = await fleet.run(["worker", "--pool", "solo", "--quiet"]);

    // With a supervisor only the page fails.
    expect([supervised, crawl, solo].map(({ code }) => code)).toEqual([0, 1, 1]);
    for (const end of [supervised, crawl, solo]) {
      expect(end.stderr).toContain(`trawl: the handler of ${site.url}/bad ended this process with process.exit(0)`);
    }
  });
}

/**
 * A site with four pages. The handler runs the code `onBad` for /bad, and `onGood` for the other pages. With `onGood`,
 * the site answers /bad only after a request for /logged.
 */
async function siteWithSpider(broker: FleetBroker, onBad: string, onGood = "") {
  const logged = deferred();
  if (onGood === "") logged.resolve();
  const fleet = await newFleet(broker);
  const site = await originOf(async ({ url }, response) => {
    if (url === "/logged") logged.resolve();
    if (url === "/bad") await logged.promise;
    response.end("<h1>page</h1>");
  });
  const start = ["/1", "/2", "/bad", "/3"].map((path) => site.url + path);
  const spider = `
    const never = new Promise(() => {});
    export default {
      name: "faulty", start: ${JSON.stringify(start)}, politeness: { rate: "unlimited", robots: false },
      async page({ url, emit }) { if (url.endsWith("/bad")) { ${onBad} } else { ${onGood} } emit({ url }); },
    };
  `;
  writeFileSync(join(fleet.cwd, "faulty.mjs"), spider);
  return { fleet, site };
}
