import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Frontier, NewJob } from "../../src/frontier/frontier.ts";
import type { FrontierAdmin } from "../../src/frontier/frontier-admin.ts";
import { openRedisFrontier } from "../../src/frontier/redis/open.ts";
import { openSqliteFrontier } from "../../src/frontier/sqlite/open.ts";
import { createLog } from "../../src/runtime/log.ts";
import { findRedisObstacle, type RedisServer, startRedis } from "../services/redis.ts";
import { createFrontierPair } from "./frontier-pair.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";
import { createModelFrontier } from "./model-frontier.ts";
import { jobs, type Operation, operations, START_AT, submissions } from "./operations.ts";
import { auditShard } from "./redis-audit.ts";
import { seeded } from "./seed.ts";
import { auditFile } from "./sqlite-audit.ts";

/** So low that some submissions reach this limit. */
const MAX_PENDING = 50;
const noRedis = findRedisObstacle("redis-server") !== undefined;

/** A frontier to compare with the model, and an audit of its tables at the end. */
type Subject = { frontier: Frontier & FrontierAdmin; audit(): Promise<unknown> };
type Open = (clock: ManualClock) => Promise<Subject>;

const scripts = fc.tuple(
  fc.array(jobs, { minLength: 1, maxLength: 3 }),
  fc.array(submissions, { maxLength: 5 }),
  fc.array(operations, { minLength: 1, maxLength: 250, size: "max" }),
);

async function runBoth(open: Open, made: readonly NewJob[], calls: readonly Operation[]): Promise<void> {
  const clock = createManualClock(START_AT);
  const { frontier: subject, audit } = await open(clock);
  const model = createModelFrontier({ clock }, { maxPending: MAX_PENDING });
  const named = made.map((job, nth) => ({ ...job, id: `job-${nth}` }));
  for (const job of named) {
    await subject.createJob(job);
    await model.createJob(job);
    clock.advance(1); // jobs are listed by creation time
  }
  const pair = createFrontierPair({ subject, model, clock, jobs: named });
  try {
    for (const call of calls) await pair.run(call);
    await pair.compareExplanations();
  } finally {
    await subject.close();
  }
  expect(await audit()).toEqual([]);
}

function agreement(open: Open): () => Promise<void> {
  return () =>
    fc.assert(
      fc.asyncProperty(scripts, ([made, first, calls]) => runBoth(open, made, [...first, ...calls])),
      seeded(60),
    );
}

describe("a backend returns the same as the model after each of many random calls", () => {
  let folder = "";
  let redis: RedisServer | undefined;
  let runs = 0;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "trawl-agreement-"));
    if (!noRedis) redis = await startRedis();
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await redis?.stop();
  });

  const openSqlite: Open = async (clock) => {
    const path = join(folder, `broker-${runs++}.db`);
    const frontier = openSqliteFrontier(path, { clock }, { maxPending: MAX_PENDING, busyMs: 1000, pollMs: 1000 });
    return {
      frontier,
      audit: async () => {
        const wrong = auditFile(path);
        rmSync(path);
        return Object.entries(wrong);
      },
    };
  };

  const openRedis: Open = async (clock) => {
    const { url = "", port = 0 } = redis ?? {};
    const prefix = `run-${runs++}`;
    const frontier = await openRedisFrontier(
      url,
      { clock, log: createLog("silent", () => {}) },
      { prefix, shards: 1, maxPending: MAX_PENDING, retryForMs: 0, pollMs: 1000, time: "caller" },
    );
    return { frontier, audit: () => auditShard(port, `${prefix}:{0}`) };
  };

  it("SQLite", agreement(openSqlite));
  it.skipIf(noRedis)("Redis", agreement(openRedis));
});
