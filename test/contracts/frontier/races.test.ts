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

/** The broker of a race: the address of a new one, and an audit of its contents at the end. */
type RaceTarget = { newAddress(folder: string): string; audit(address: string): Promise<unknown> };

describe("several processes on one broker file", () => {
  race({
    newAddress: (folder) => join(folder, newPrefix(), "broker.db"),
    audit: async (address) => Object.entries(auditFile(address)),
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
        newAddress: () => `${server.url}?prefix=${newPrefix()}&shards=${shards}`,
        audit: async (address) => {
          const prefix = new URL(address).searchParams.get("prefix");
          const all = Array.from({ length: shards }, (_, nth) => auditShard(server.port, `${prefix}:{${nth}}`));
          return (await Promise.all(all)).flat();
        },
      });
    },
  );
}

function race({ newAddress, audit }: RaceTarget): void {
  const clock = systemClock();
  let folder = "";
  let address = "";
  let broker: AnyFrontier;
  let children: ChildProcess[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "trawl-race-"));
    address = newAddress(folder);
    broker = await openRaceBroker(address, clock);
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
    await broker.pause("race"); // until all workers have started
  }

  async function startRace(names: readonly string[]): Promise<void> {
    while (!names.every((name) => existsSync(logOf(name)))) await clock.sleep(5);
    await broker.resume("race");
  }

  function run(module: string, args: readonly string[]): ChildProcess {
    const child = spawn(process.execPath, [module, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    return child;
  }

  function start(name: string, leaseMs: number): ChildProcess {
    return run(worker(), [address, name, logOf(name), String(leaseMs)]);
  }

  async function ended(child: ChildProcess): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    return child.exitCode;
  }

  async function whenSettled(name: string, count: number): Promise<void> {
    while (linesOf(readRaceLog([logOf(name)]), "settled").length < count) await clock.sleep(5);
  }

  it("F9 F19 create one broker if all of them open it, and queue a URL once if all of them submit it", async () => {
    const fresh = newAddress(folder);

    const submitters = Array.from({ length: 4 }, () => run(submitter(), [fresh]));
    const answers = await Promise.all(
      submitters.map(async ({ stdout }) => JSON.parse(stdout === null ? "" : await textOf(stdout))),
    );

    const sum = (name: string) => answers.reduce((total: number, answer) => total + answer[name], 0);
    expect({ queued: sum("queued"), duplicates: sum("duplicates") }).toEqual({ queued: 1200, duplicates: 3600 });
    expect(await audit(fresh)).toEqual([]);
  });

  it("F1 F3 F10 F11 run 2,000 tasks of 20 sites once each, within all limits, and end the job once", async () => {
    const sites = siteNames(20);
    const names = ["w0", "w1", "w2", "w3"];
    await submitRace(sites, 100);

    const workers = names.map((name) => start(name, 60_000));
    await startRace(names);
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
    // On several shards, a reaper may end the job before the settlement of the last task does. It reports nothing.
    const finished = linesOf(lines, "finished").map(({ jobId }) => jobId);
    expect(finished).toEqual(address.includes("shards=3") && finished.length === 0 ? [] : ["race"]);
    expect(await countsOf(broker, "race")).toEqual({ submitted: 2000, done: 2000 });
    expect((await viewOf(broker, "race")).state).toBe("finished");
    expect(await audit(address)).toEqual([]);
    // Every process was granted tasks.
    expect(new Set(linesOf(lines, "granted").map(({ worker }) => worker))).toEqual(new Set(names));
  });

  it("F3 F6 F10 lose no task if two of them are killed, one abandoned and one left to expire", async () => {
    const sites = siteNames(10);
    await submitRace(sites, 100);
    const victims = [start("abandoned", 600_000), start("expiring", 1500)];
    const survivors = [start("w0", 60_000), start("w1", 60_000)];

    await startRace(["abandoned", "expiring", "w0", "w1"]);
    await Promise.all([whenSettled("abandoned", 20), whenSettled("expiring", 20)]);
    for (const victim of victims) victim.kill("SIGKILL");
    await Promise.all(victims.map(ended));
    const over = Promise.all(survivors.map(ended));
    // Repeatedly, because a call that the process sent just before it was killed may reach the server later.
    for (
      let isOver = false;
      !isOver;
      isOver = await Promise.race([over.then(() => true), clock.sleep(50).then(() => false)])
    ) {
      await broker.abandon("abandoned");
    }
    expect(await over).toEqual([0, 0]);

    const lines = readRaceLog(["abandoned", "expiring", "w0", "w1"].map(logOf));
    for (const site of sites) expectRate(lines, site, policyAt(site));
    const settled = linesOf(lines, "settled").filter(({ verdict }) => verdict === "settled");
    expect(new Set(settled.map(({ taskId }) => taskId)).size).toBe(settled.length);
    expect(await countsOf(broker, "race")).toEqual({ submitted: 1000, done: 1000 });
    expect(linesOf(lines, "finished").length).toBeLessThanOrEqual(1);
    expect(await audit(address)).toEqual([]);
    // No survivor lost a lease. (A victim may be killed before it logs its grants.)
    const granted = linesOf(lines, "granted");
    const keptBySurvivors = granted.filter(({ worker }) => worker === "w0" || worker === "w1");
    const lost = keptBySurvivors.filter((kept) =>
      granted.some(({ taskId, token }) => taskId === kept.taskId && token > kept.token),
    );
    expect(granted.some(({ token }) => token > 1)).toBe(true);
    expect(lost).toEqual([]);
  });
}

/** A request may be late by this time without delaying the next one, see site-pacer.ts. */
const MAX_LATE_MS = 0.8;

/** Any `burst + 1` consecutive requests to the site span at least one interval. */
function expectRate(lines: readonly RaceLine[], name: string, { intervalMs, burst }: SitePolicy): void {
  const sends = linesOf(lines, "sent")
    .filter(({ site }) => site === name)
    .map(({ at }) => at)
    .sort((one, other) => one - other);
  const gaps = sends.slice(burst).map((at, nth) => at - (sends[nth] ?? 0));
  expect(Math.min(...gaps), `smallest gap at ${name}`).toBeGreaterThanOrEqual(intervalMs - MAX_LATE_MS);
}

/** At no time do more than `perSite` tasks run. A task counts from its start to before its settlement. */
function expectConcurrency(lines: readonly RaceLine[], name: string, { perSite }: SitePolicy): void {
  const held = new Map(linesOf(lines, "ending").map(({ taskId, token, at }) => [`${taskId} ${token}`, at]));
  const spans = linesOf(lines, "granted")
    .filter(({ site }) => site === name)
    .map(({ taskId, token, at }) => ({ from: at, to: held.get(`${taskId} ${token}`) ?? at }));
  const max = spans.map(({ from }) => spans.filter((span) => span.from <= from && from < span.to).length);
  expect(Math.max(...max), `largest concurrency at ${name}`).toBeLessThanOrEqual(perSite);
}
