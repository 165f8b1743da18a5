/** Tests that the tasks of a job with a region run only on workers that have a proxy of this region. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startProxy, type TestProxy } from "../site/proxy.ts";
import { jsonLines } from "./cli.ts";
import { type Fleet, newFleet } from "./fleet/fleet.ts";
import { linksTo, originOf } from "./sites.ts";

const SETTINGS = { TRAWL_PROXIES: "proxies.json" };

async function proxyAt(address: string): Promise<TestProxy> {
  const proxy = await startProxy({ address });
  onTestFinished(() => proxy.close());
  return proxy;
}

/** A fleet with a proxy in the us and one in the eu, and a site that logs the addresses of requests. */
async function openFleet() {
  const fleet = await newFleet({ fresh: async () => ({}), missing: {} });
  const [us, eu] = [await proxyAt("127.0.1.1"), await proxyAt("127.0.1.2")];
  const list = [
    { url: us.url, region: "us" },
    { url: eu.url, region: "eu" },
  ];
  writeFileSync(join(fleet.cwd, "proxies.json"), JSON.stringify(list));
  const from: (string | undefined)[] = [];
  const site = await originOf(({ url, socket }, response) => {
    from.push(socket.remoteAddress);
    response.setHeader("content-type", "text/html");
    response.end(url === "/" ? linksTo("/1", "/2", "/3") : "<h1>page</h1>");
  });
  const job = {
    urls: [`${site.url}/`],
    follow: {},
    politeness: { rate: "unlimited", robots: false },
    proxy: { region: "eu" },
  };
  writeFileSync(join(fleet.cwd, "job.json"), JSON.stringify(job));
  return { fleet, site, from, eu };
}

function worker(fleet: Fleet, region: string) {
  return fleet.run(["worker", "--region", region, "--drain", "--quiet", "--json"], { env: SETTINGS });
}

describe("a job with a region", () => {
  it("waits until a worker has a proxy of this region, and is not retried by other workers", async () => {
    const { fleet, site, from, eu } = await openFleet();
    const submitted = await fleet.run(["submit", "job.json", "--json"]);
    const { id } = jsonLines<{ id: string }>(submitted.stdout)[0] ?? { id: "" };
    expect(submitted.stderr).toContain(
      "no worker serves the region eu (queue fetch); start one with: npx trawl worker --queues fetch --region eu, with a proxy of region eu",
    );

    const other = await fleet.worker(["--region", "us"], SETTINGS);
    expect((await worker(fleet, "us")).code).toBe(0);
    expect(await fleet.job(id)).toMatchObject({ state: "running", counts: { queued: 1, delayed: 0, done: 0 } });
    const why = (await fleet.run(["explain", `${site.url}/`])).stdout;
    expect(why).toMatch(/no worker serves region eu \(queue fetch\); start one with: .* --queues fetch --region eu/);
    const { findings } = await fleet.diagnose();
    expect(findings).toContainEqual(
      expect.objectContaining({ check: "queue fetch@eu", message: "1 URL waiting, and no worker serves the queue" }),
    );
    // A region without a proxy is not served.
    expect(jsonLines((await worker(fleet, "asia")).stdout)).toMatchObject([{ queues: ["fetch", "deliver"], tasks: 0 }]);

    const end = await worker(fleet, "eu");
    expect(jsonLines(end.stdout)).toMatchObject([{ queues: ["fetch", "fetch@eu", "deliver"], tasks: 4 }]);
    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { done: 4, dead: 0 } });
    expect(new Set(from)).toEqual(new Set([eu.address]));
    other.kill("SIGTERM");
    await other.ended;
  });

  it("runs on a worker without --region that has a proxy of the region", async () => {
    const { fleet, from, eu } = await openFleet();
    const { id } = await fleet.submit(["job.json"]);
    expect(jsonLines((await worker(fleet, "any")).stdout)).toMatchObject([{ tasks: 4 }]);
    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { done: 4 } });
    expect(new Set(from)).toEqual(new Set([eu.address]));
  });
});
