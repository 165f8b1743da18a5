/** Several processes on one broker, in real time. The tests check the merged logs of the processes. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as textOf } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { SitePolicy } from "../../../src/domain/politeness.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { auditShard } from "../../model/redis-audit.ts";
import { auditFile } from "../../model/sqlite-audit.ts";
import { useProgram } from "../../services/program.ts";
import { findRedisObstacle, type RedisServer, startRedis } from "../../services/redis.ts";
import type { AnyFrontier } from "./backend.ts";
import { aJob, countsOf, tasksAt, viewOf } from "./makers.ts";
import { openRaceBroker } from "./race-broker.ts";
import { linesOf, type RaceLine, readRaceLog } from "./race-log.ts";
import { newPrefix } from "./redis-backend.ts";

const worker = useProgram(new URL("./race-worker.ts", import.meta.url));
const submitter = useProgram(new URL("./race-submitter.ts", import.meta.url));
const STEADY: SitePolicy = { intervalMs: 30, burst: 1, perSite: 2 };
const BURSTY: SitePolicy = { intervalMs: 30, burst: 3, perSite: 3 };

/** Where a race runs: an address of a new broker, and an audit of its tables at the end. */
type Course = { newPlace(folder: string): string; audit(place: string): Promise<unknown> };

describe("several processes on one broker file", () => {
  race({
    newPlace: (folder) => join(folder, newPrefix(), "broker.db"),
    audit: async (place) => Object.entries(auditFile(place)),
  });
});

for (const shards of [1, 3]) {
  describe.skipIf(findRedisObstacle("redis-server") !== undefined)(
    `several processes on one Redis, ${shards} shard(s)`,
    () => {
      let server: RedisServer;
      beforeAll(async () => {
        server = await startRedis();
      });
      afterAll(() => server.stop());

      race({
        newPlace: () => `${server.url}?prefix=${newPrefix()}&shards=${shards}`,
        audit: async (place) => {
          const prefix = new URL(place).searchParams.get("prefix");
          const all = Array.from({ length: shards }, (_, nth) => auditShard(server.port, `${prefix}:{${nth}}`));
          return (await Promise.all(all)).flat();
        },
      });
    },
  );
}

function race({ newPlace, audit }: Course): void {
  const clock = systemClock();
  let folder = "";
  let place = "";
  let broker: AnyFrontier;
  let children: ChildProcess[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "trawl-race-"));
    place = newPlace(folder);
    broker = await openRaceBroker(place, clock);
  });
  afterEach(async () => {
    for (const child of children) child.kill("SIGKILL");
    children = [];
    await broker.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const siteNames = (count: number) => Array.from({ length: count }, (_, nth) => `site-${nth}.test`);
  const policyAt = (site: string) => (site.endsWith("0.test") || site.endsWith("5.test") ? BURSTY : STEADY);
  const logOf = (name: string) => join(folder, `${name}.log`);

  async function submitRace(sites: readonly string[], tasksPerSite: number): Promise<void> {
    const rules = Object.fromEntries(sites.map((site) => [site, policyAt(site)]));
    await broker.createJob(aJob({ id: "race", sites: rules }));
    await broker.enqueue(
      "race",
      sites.flatMap((site) => tasksAt(site, tasksPerSite)),
    );
    await broker.seal("race");
    await broker.pause("race"); // until all are at the line
  }

  async function fire(names: readonly string[]): Promise<void> {
    while (!names.every((name) => existsSync(logOf(name)))) await clock.sleep(5);
    await broker.resume("race");
  }

  function run(module: string, words: readonly string[]): ChildProcess {
    const child = spawn(process.execPath, [module, ...words], { stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    return child;
  }

  function start(name: string, leaseMs: number): ChildProcess {
    return run(worker(), [place, name, logOf(name), String(leaseMs)]);
  }

  async function ended(child: ChildProcess): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    return child.exitCode;
  }

  async function whenSettled(name: string, count: number): Promise<void> {
    while (linesOf(readRaceLog([logOf(name)]), "settled").length < count) await clock.sleep(5);
  }

  it("F9 F19 make one broker when all open it at once, and queue a URL once when all submit it", async () => {
    const fresh = newPlace(folder);

    const submitters = Array.from({ length: 4 }, () => run(submitter(), [fresh]));
    const answers = await Promise.all(
      submitters.map(async ({ stdout }) => JSON.parse(stdout === null ? "" : await textOf(stdout))),
    );

    const sum = (name: string) => answers.reduce((total: number, answer) => total + answer[name], 0);
    expect({ queued: sum("queued"), duplicates: sum("duplicates") }).toEqual({ queued: 1200, duplicates: 3600 });
    expect(await audit(fresh)).toEqual([]);
  });

  it("F1 F3 F10 F11 share 2,000 tasks of 20 sites: each once, no site too fast or too often, one end", async () => {
    const sites = siteNames(20);
    const names = ["w0", "w1", "w2", "w3"];
    await submitRace(sites, 100);

    const workers = names.map((name) => start(name, 60_000));
    await fire(names);
    expect(await Promise.all(workers.map(ended))).toEqual([0, 0, 0, 0]);

    const lines = readRaceLog(names.map(logOf));
    const settled = linesOf(lines, "settled");
    expect(settled.map(({ verdict }) => verdict).every((verdict) => verdict === "settled")).toBe(true);
    expect(settled).toHaveLength(2000);
    expect(new Set(settled.map(({ url }) => url)).size).toBe(2000);
    expect(linesOf(lines, "granted")).toHaveLength(2000);
    for (const site of sites) {
      expectRate(lines, site, policyAt(site));
      expectConcurrency(lines, site, policyAt(site));
    }
    expect(linesOf(lines, "finished").map(({ jobId }) => jobId)).toEqual(["race"]);
    expect(await countsOf(broker, "race")).toEqual({ submitted: 2000, done: 2000 });
    expect((await viewOf(broker, "race")).state).toBe("finished");
    expect(await audit(place)).toEqual([]);
    // All of them had a part in it.
    expect(new Set(linesOf(lines, "granted").map(({ worker }) => worker))).toEqual(new Set(names));
  });

  it("F3 F6 F10 lose nothing when two of them are killed, one given up at once, the other by its leases", async () => {
    const sites = siteNames(10);
    await submitRace(sites, 100);
    const victims = [start("given-up", 600_000), start("expiring", 1500)];
    const survivors = [start("w0", 60_000), start("w1", 60_000)];

    await fire(["given-up", "expiring", "w0", "w1"]);
    await Promise.all([whenSettled("given-up", 20), whenSettled("expiring", 20)]);
    for (const victim of victims) victim.kill("SIGKILL");
    await Promise.all(victims.map(ended));
    const over = Promise.all(survivors.map(ended));
    // More than once: what a process sent just before it was killed may reach a server after that.
    for (
      let isOver = false;
      !isOver;
      isOver = await Promise.race([over.then(() => true), clock.sleep(50).then(() => false)])
    ) {
      await broker.abandon("given-up");
    }
    expect(await over).toEqual([0, 0]);

    const lines = readRaceLog(["given-up", "expiring", "w0", "w1"].map(logOf));
    for (const site of sites) expectRate(lines, site, policyAt(site));
    const settled = linesOf(lines, "settled").filter(({ verdict }) => verdict === "settled");
    expect(new Set(settled.map(({ taskId }) => taskId)).size).toBe(settled.length);
    expect(await countsOf(broker, "race")).toEqual({ submitted: 1000, done: 1000 });
    expect(linesOf(lines, "finished").length).toBeLessThanOrEqual(1);
    expect(await audit(place)).toEqual([]);
    // Nothing was taken from those who lived. (A victim may die before it notes what it was granted.)
    const granted = linesOf(lines, "granted");
    const keptBySurvivors = granted.filter(({ worker }) => worker === "w0" || worker === "w1");
    const lost = keptBySurvivors.filter((kept) =>
      granted.some(({ taskId, token }) => taskId === kept.taskId && token > kept.token),
    );
    expect(granted.some(({ token }) => token > 1)).toBe(true);
    expect(lost).toEqual([]);
  });
}

/** Of the requests that left, any `burst + 1` in a row span a whole interval. */
function expectRate(lines: readonly RaceLine[], name: string, { intervalMs, burst }: SitePolicy): void {
  const sends = linesOf(lines, "sent")
    .filter(({ site }) => site === name)
    .map(({ slot }) => slot.sendAt)
    .sort((one, other) => one - other);
  const gaps = sends.slice(burst).map((at, nth) => at - (sends[nth] ?? 0));
  expect(Math.min(...gaps), `least gap at ${name}`).toBeGreaterThanOrEqual(intervalMs);
}

/** From after a grant to before its end, no more than allowed are held at any time. */
function expectConcurrency(lines: readonly RaceLine[], name: string, { perSite }: SitePolicy): void {
  const held = new Map(linesOf(lines, "ending").map(({ taskId, token, at }) => [`${taskId} ${token}`, at]));
  const spans = linesOf(lines, "granted")
    .filter(({ site }) => site === name)
    .map(({ taskId, token, at }) => ({ from: at, to: held.get(`${taskId} ${token}`) ?? at }));
  const most = spans.map(({ from }) => spans.filter((span) => span.from <= from && from < span.to).length);
  expect(Math.max(...most), `most at once at ${name}`).toBeLessThanOrEqual(perSite);
}
