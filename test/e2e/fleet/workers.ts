import { expect, it } from "vitest";
import { duplicates, missing } from "../../site/loss-checker.ts";
import { jsonLines, lastJson } from "../cli.ts";
import { expectBalanced, type Summary } from "../ledger.ts";
import { linkedSite, originOf, pagesRequested } from "../sites.ts";
import { type Diagnosis, FAST, type FleetBroker, newFleet, type Submitted, slowSite } from "./fleet.ts";

/** Tests workers that share jobs. */
export function workers(broker: FleetBroker): void {
  it("shares a job between its workers: fetches every page once and stores every record", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 150 })];
    const started = await Promise.all([fleet.worker(), fleet.worker(), fleet.worker()]);

    const end = await fleet.run(["submit", `${site.url}/`, ...FAST, "--wait", "--json", "--quiet"]);

    expect(end, end.stderr).toMatchObject({ code: 0 });
    const job = lastJson<Submitted>(end);
    expect(job).toMatchObject({ state: "finished", accepted: 1, pages: 150, records: 150 });
    expectBalanced(job.counts);
    const records = jsonLines<{ _url: string }>((await fleet.run(["records", job.id])).stdout);
    expect(
      missing(
        site.expectedPages(),
        records.map(({ _url }) => _url),
      ),
    ).toEqual([]);
    expect(duplicates(pagesRequested(site))).toEqual(new Map());
    for (const worker of started) worker.kill("SIGTERM");
    const ends = await Promise.all(started.map(({ ended }) => ended));
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    const tasks = ends.map((one) => lastJson<{ tasks: number }>(one).tasks);
    expect(tasks.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(150);
  });

  it("serves only the queues of --queues", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 10, disallowedEvery: 0 })];
    const flags = ["--follow", "none", ...FAST];
    await fleet.submit([`${site.url}/page/1`, ...flags]);
    await fleet.submit([`${site.url}/page/2`, ...flags, "--queue", "high_priority"]);
    await fleet.submit([`${site.url}/page/3`, ...flags, "--queue", "low"]);

    const end = await (await fleet.worker(["--queues", "high_priority,low", "--drain"])).ended;

    expect(end.code).toBe(0);
    expect(lastJson(end)).toMatchObject({ queues: ["high_priority", "low"], tasks: 2, pages: 2, records: 2 });
    expect(pagesRequested(site).sort()).toEqual(["/page/2", "/page/3"]);
  });

  it("continues when a worker is killed: another worker takes its tasks, and no record is stored twice", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 80 })];
    const env = { TRAWL_LEASE: "2s" };
    const killed = await fleet.worker(["--pool", "solo"], env);
    const { id } = await fleet.submit([`${site.url}/`, "--rate", "200/s", "--per-site", "8"]);
    await site.waitForRequests(20);
    killed.kill("SIGKILL");
    await killed.ended;

    const end = await (await fleet.worker(["--drain"], env)).ended;

    expect(end.code).toBe(0);
    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { dead: 0, leased: 0 } });
    const records = jsonLines<{ _url: string }>((await fleet.run(["records", id])).stdout).map(({ _url }) => _url);
    expect(missing(site.expectedPages(), records)).toEqual([]);
    expect(duplicates(records)).toEqual(new Map());
  });

  it("does not take tasks of a crawl, which has its own queue", async () => {
    const [fleet, site] = [await newFleet(broker), await linkedSite({ pages: 30 })];
    const worker = await fleet.worker();

    const end = await fleet.run(["crawl", `${site.url}/`, ...FAST, "--json", "--quiet"]);

    expect(lastJson<Summary>(end)).toMatchObject({ state: "finished", pages: 30 });
    worker.kill("SIGTERM");
    expect(lastJson(await worker.ended)).toMatchObject({ tasks: 0 });
    const { id } = lastJson<Summary>(end);
    expect(await fleet.run(["crawl", "--resume", id, "--json"])).toMatchObject({ code: 0 });
  });
}

/** Tests workers that get a signal. */
export function stopping(broker: FleetBroker): void {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "returns at %s the tasks that do not finish in time, and exits with 0",
    async (signal) => {
      const [fleet, { site, open }] = [await newFleet(broker), await slowSite()];
      const worker = await fleet.worker([], { TRAWL_GRACE: "100ms" });
      const { id } = await fleet.submit([`${site.url}/`, "--ignore-robots", ...FAST]);
      await site.waitForRequests(2);
      worker.kill(signal);

      expect(await worker.ended).toMatchObject({ code: 0 });
      expect((await fleet.job(id)).counts).toMatchObject({ done: 1, queued: 1, leased: 0 });
      const { findings } = await fleet.diagnose();
      expect(findings.find(({ check }) => check === "fleet")?.message).toMatch(/^0 workers/);
      open();
      await (await fleet.worker(["--drain"])).ended;
      expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { done: 4, dead: 0 } });
    },
  );
}

/** Tests the grace period. */
export function grace(broker: FleetBroker): void {
  it("lets running tasks finish within the grace period", async () => {
    const [fleet, { site, open }] = [await newFleet(broker), await slowSite()];
    const worker = await fleet.worker([], { TRAWL_GRACE: "10m" });
    const { id } = await fleet.submit([`${site.url}/`, "--ignore-robots", ...FAST]);
    await site.waitForRequests(2);
    worker.kill("SIGTERM");
    await worker.prints(/"worker\.stopping"/);
    open();

    expect(await worker.ended).toMatchObject({ code: 0 });
    expect((await fleet.job(id)).counts).toMatchObject({ done: 2, queued: 2, leased: 0 });
  });

  it("exits with 0 when it is stopped before it has started", async () => {
    const fleet = await newFleet(broker);
    const env = { TRAWL_BROKER: "redis://127.0.0.1:1", TRAWL_BROKER_RETRY_FOR: "10m" };
    const waiting = fleet.start(["worker"], { env });
    await waiting.prints(/broker/);
    waiting.kill("SIGTERM");

    expect(await waiting.ended).toMatchObject({ code: 0, stdout: "" });
  });

  it("ends at once at the second signal, with 130, and loses nothing", async () => {
    const [fleet, { site, open }] = [await newFleet(broker), await slowSite()];
    const worker = await fleet.worker([], { TRAWL_GRACE: "10m", TRAWL_LEASE: "2s" });
    const { id } = await fleet.submit([`${site.url}/`, "--ignore-robots", ...FAST]);
    await site.waitForRequests(2);
    worker.kill("SIGTERM");
    await worker.prints(/"worker\.stopping"/);
    worker.kill("SIGTERM");

    expect(await worker.ended).toMatchObject({ code: 130, stdout: "" });
    open();
    await (await fleet.worker(["--drain"])).ended;
    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { done: 4, dead: 0 } });
  });
}

export function draining(broker: FleetBroker): void {
  it("drains: exits at once without tasks, and otherwise waits until other workers have finished theirs", async () => {
    const [fleet, { site, open }] = [await newFleet(broker), await slowSite()];
    expect(await fleet.run(["worker", "--drain", "--quiet"])).toMatchObject({ code: 0, stderr: "" });
    const holding = await fleet.worker(["-c", "1"]);
    const { id } = await fleet.submit([`${site.url}/`, "--ignore-robots", ...FAST]);
    await site.waitForRequests(2);

    const draining = await fleet.worker(["--drain"]);
    const fleetSize = ({ findings }: Diagnosis) => findings.find(({ check }) => check === "fleet")?.message ?? "";
    await fleet.poll(fleet.diagnose, (seen) => fleetSize(seen).startsWith("2 workers"));
    holding.kill("SIGTERM"); // it takes no more tasks, so the draining worker must fetch the links of /slow
    await holding.prints(/"worker\.stopping"/);
    open();

    expect(await draining.ended).toMatchObject({ code: 0 });
    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { done: 4 } });
    expect(await holding.ended).toMatchObject({ code: 0 });
  });

  it("reports once that only a paused job is left, and continues when it is resumed", async () => {
    const [fleet, site] = [await newFleet(broker), await originOf({ "/": "<h1>home</h1>" })];
    const { id } = await fleet.submit([`${site.url}/`, "--ignore-robots", ...FAST]);
    await fleet.run(["pause", id]);

    const worker = fleet.start(["worker", "--drain"]);
    await worker.prints(new RegExp(`only one paused job is left: ${id}; resume with: .*trawl resume ${id}`));
    await fleet.run(["resume", id]);

    const end = await worker.ended;
    expect(end.code).toBe(0);
    expect(end.stderr.match(/only one paused job/g)).toHaveLength(1);
    expect(await fleet.job(id)).toMatchObject({ state: "finished", counts: { done: 1 } });
  });
}
