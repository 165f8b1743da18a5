import { describe, expect, it, onTestFinished } from "vitest";
import { createManualClock } from "../../../test/model/manual-clock.ts";
import { waitUntil } from "../../../test/services/wait-until.ts";
import { openSqliteFrontier } from "../../frontier/sqlite/open.ts";
import { createLog } from "../../runtime/log.ts";
import { afterResult, type ExitResult, NO_HEALTH, scoreOf, standingOf } from "./health.ts";
import { createHealthBoard } from "./health-board.ts";
import { readAllHealth } from "./health-codec.ts";
import { createSpending, readSpending } from "./spending.ts";

const OK: ExitResult = { kind: "ok", tookMs: 100, bytes: 0, cost: 2 };
const log = createLog("silent", () => {});

function openBroker() {
  const clock = createManualClock(1_000_000);
  const frontier = openSqliteFrontier(":memory:", { clock }, { maxPending: 100, busyMs: 100, pollMs: 1e9 });
  onTestFinished(() => frontier.close());
  return { clock, deps: { values: frontier, clock, log }, frontier };
}

describe("the health of an exit", () => {
  const repeated = (kind: ExitResult["kind"], times: number, now: number, from = NO_HEALTH) =>
    Array.from({ length: times }).reduce<typeof from>((health) => afterResult(health, { ...OK, kind }, now), from);

  it.each([
    { kind: "failed", after: 3, firstMs: 10_000 },
    { kind: "blocked", after: 2, firstMs: 30_000 },
    { kind: "down", after: 2, firstMs: 5_000 },
  ] as const)("ends after $after times $kind in a row, doubles while it fails, and returns with a success", (row) => {
    const { kind, after, firstMs } = row;
    expect(standingOf(repeated(kind, after - 1, 0), 0)).toBe("healthy");
    const ejected = repeated(kind, after, 0);
    expect([standingOf(ejected, firstMs - 1), standingOf(ejected, firstMs)]).toEqual(["ejected", "probation"]);
    const again = repeated(kind, 1, firstMs, ejected);
    expect([again.ejectedUntil, again.because]).toEqual([firstMs * 3, kind]);
    // The result of a request that was sent before the ejection changes nothing.
    expect(repeated(kind, 5, firstMs + 1, again).ejectedUntil).toBe(firstMs * 3);
    expect(standingOf(afterResult(again, OK, firstMs * 3), firstMs * 3)).toBe("healthy");
  });

  const price = (cost: number, costPerGb = 0) => ({ cost, costPerGb });

  it("has a score that includes the price of its average number of bytes", () => {
    const light = afterResult(NO_HEALTH, { ...OK, bytes: 10_000 }, 0);
    const heavy = afterResult(NO_HEALTH, { ...OK, bytes: 1_000_000 }, 0);
    // 1,000,000 bytes at 10 per GB cost 0.01.
    expect(scoreOf(heavy, price(0.01, 10))).toBeCloseTo(scoreOf(heavy, price(0.02)), 6);
    expect(scoreOf(light, price(0, 4))).toBeGreaterThan(scoreOf(light, price(0.02)));
    expect(scoreOf(heavy, price(0, 40))).toBeLessThan(scoreOf(heavy, price(0.02)));
  });

  it("has a score of success per cost, lower for slow exits", () => {
    const good = repeated("ok", 10, 0);
    const half = repeated("failed", 5, 0, repeated("ok", 5, 0));
    const slow = Array.from({ length: 10 }).reduce<typeof good>(
      (h) => afterResult(h, { ...OK, tookMs: 2_000 }, 0),
      NO_HEALTH,
    );
    expect(scoreOf(good, price(1))).toBeGreaterThan(scoreOf(half, price(1)));
    expect(scoreOf(good, price(1))).toBeGreaterThan(scoreOf(slow, price(1)));
    expect(scoreOf(half, price(1))).toBeGreaterThan(scoreOf(good, price(8)));
    expect(scoreOf(NO_HEALTH, price(1))).toBe(1);
  });
});

describe("the health board", () => {
  it("loses no result if several workers write the same site at once", async () => {
    const { deps, frontier } = openBroker();
    const options = { flushMs: 1_000, maxSites: 10, flushSites: 10 };
    const boards = Array.from({ length: 5 }, () => createHealthBoard(deps, options));
    for (let round = 0; round < 4; round++) {
      for (const board of boards) {
        await board.load("a.example");
        for (let nth = 0; nth < 10; nth++) board.record("a.example", `exit${nth % 2}`, OK);
      }
      await Promise.all(boards.map((board) => board.flush()));
    }
    await Promise.all(boards.map((board) => board.close()));
    const health = (await readAllHealth(frontier)).get("a.example");
    const totals = [...(health ?? [])].map(([id, { requests, ok, tookMs, cost }]) => [id, requests, ok, tookMs, cost]);
    expect(totals.sort()).toEqual([
      ["exit0", 100, 100, 10_000, 200],
      ["exit1", 100, 100, 10_000, 200],
    ]);
  });

  it("writes on its own after the flush interval, and keeps the results if the broker fails", async () => {
    const { clock, deps, frontier } = openBroker();
    let isBroken = true;
    const values = {
      findValue: (key: string) => (isBroken ? Promise.reject(new Error("no broker")) : frontier.findValue(key)),
      keepValue: frontier.keepValue,
    };
    const board = createHealthBoard({ ...deps, values }, { flushMs: 1_000, maxSites: 10, flushSites: 10 });
    await board.load("a.example");
    board.record("a.example", "exit0", OK);
    clock.advance(1_000);
    await waitUntil(() => clock.sleepers() === 1, 5_000);
    isBroken = false;
    clock.advance(1_000);
    await waitUntil(async () => (await readAllHealth(frontier)).has("a.example"), 5_000);
    expect((await readAllHealth(frontier)).get("a.example")?.get("exit0")?.requests).toBe(1);
    await board.close();
  });

  it("keeps a bounded number of sites in memory", async () => {
    const { deps, frontier } = openBroker();
    const board = createHealthBoard(deps, { flushMs: 1_000, maxSites: 3, flushSites: 10 });
    for (let nth = 0; nth < 20; nth++) {
      await board.load(`s${nth}.example`);
      board.record(`s${nth}.example`, "exit0", OK);
      await board.flush();
    }
    await board.load("s0.example");
    expect(board.healthAt("s0.example", "exit0").requests).toBe(1);
    await board.close();
    expect((await readAllHealth(frontier)).size).toBe(20);
  });
});

describe("a budget", () => {
  it("is never exceeded by several workers at once", async () => {
    const { deps, frontier } = openBroker();
    const workers = Array.from({ length: 5 }, () => createSpending(deps, { flushMs: 1_000 }));
    const answers = await Promise.all(
      workers.flatMap((worker) => Array.from({ length: 100 }, () => worker.mayUse("j1", 250))),
    );
    expect(answers.filter(Boolean).length).toBeLessThanOrEqual(250);
    // What a worker has taken and not used is at most one batch.
    expect(answers.filter(Boolean).length).toBeGreaterThan(250 - workers.length * 20);
    for (const worker of workers) worker.record("j1", "acme", { bytes: 1_000, cost: 2 });
    await Promise.all(workers.map((worker) => worker.close()));
    expect(await readSpending(frontier, "j1")).toEqual({
      taken: 250,
      providers: { acme: { requests: 5, bytes: 5_000, cost: 10 } },
    });
    expect(await readSpending(frontier, "j2")).toBeUndefined();
  });
});
