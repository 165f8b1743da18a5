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
import { type RedisServer, startRedis } from "../services/redis.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";
import { createModelFrontier } from "./model-frontier.ts";
import { jobs, type Operation, operations, START_AT, submissions } from "./operations.ts";
import { auditShard } from "./redis-books.ts";
import { seeded } from "./seed.ts";
import { auditBooks } from "./sqlite-books.ts";
import { createTwins } from "./twins.ts";

/** Few enough for submissions to meet the cap now and then. */
const MAX_PENDING = 50;

/** A frontier to be held against the model, and what is wrong with its books in the end. */
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
    clock.advance(1); // jobs are listed by the time of their making
  }
  const twins = createTwins({ subject, model, clock, jobs: named });
  try {
    for (const call of calls) await twins.run(call);
    await twins.compareWords();
  } finally {
    await subject.close();
  }
  expect(await audit()).toEqual([]);
}

function describeAgreement(name: string, open: Open): void {
  it(`agree on every answer and every view after each of many random calls: ${name}`, async () => {
    await fc.assert(
      fc.asyncProperty(scripts, ([made, first, calls]) => runBoth(open, made, [...first, ...calls])),
      seeded(60),
    );
  });
}

describe("a backend and the model", () => {
  let folder = "";
  let redis: RedisServer;
  let runs = 0;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "trawl-agreement-"));
    redis = await startRedis();
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true });
    await redis.stop();
  });

  describeAgreement("SQLite", async (clock) => {
    const path = join(folder, `broker-${runs++}.db`);
    const frontier = openSqliteFrontier(path, { clock }, { maxPending: MAX_PENDING, busyMs: 1000, pollMs: 1000 });
    return {
      frontier,
      audit: async () => {
        const wrong = auditBooks(path);
        rmSync(path);
        return Object.entries(wrong);
      },
    };
  });

  describeAgreement("Redis", async (clock) => {
    const prefix = `run-${runs++}`;
    const frontier = await openRedisFrontier(
      redis.url,
      { clock, log: createLog("silent", () => {}) },
      { prefix, shards: 1, maxPending: MAX_PENDING, patienceMs: 0, pollMs: 1000, time: "caller" },
    );
    return { frontier, audit: () => auditShard(redis.port, `${prefix}:{0}`) };
  });
});
