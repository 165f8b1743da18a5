import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NewJob } from "../../src/frontier/frontier.ts";
import { openSqliteFrontier } from "../../src/frontier/sqlite/open.ts";
import { createManualClock } from "./manual-clock.ts";
import { createModelFrontier } from "./model-frontier.ts";
import { jobs, type Operation, operations, START_AT, submissions } from "./operations.ts";
import { seeded } from "./seed.ts";
import { auditBooks } from "./sqlite-books.ts";
import { createTwins } from "./twins.ts";

/** Few enough for submissions to meet the cap now and then. */
const MAX_PENDING = 50;

describe("SQLite and the model", () => {
  let folder = "";
  let runs = 0;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "trawl-agreement-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function runBoth(made: readonly NewJob[], calls: readonly Operation[]): Promise<void> {
    const path = join(folder, `broker-${runs++}.db`);
    const clock = createManualClock(START_AT);
    const subject = openSqliteFrontier(path, { clock }, { maxPending: MAX_PENDING, busyMs: 1000, pollMs: 1000 });
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
    expect(auditBooks(path)).toEqual({});
    rmSync(path);
  }

  it("agree on every answer and every view after each of many random calls", async () => {
    const scripts = fc.tuple(
      fc.array(jobs, { minLength: 1, maxLength: 3 }),
      fc.array(submissions, { maxLength: 5 }),
      fc.array(operations, { minLength: 1, maxLength: 250, size: "max" }),
    );
    await fc.assert(
      fc.asyncProperty(scripts, ([made, first, calls]) => runBoth(made, [...first, ...calls])),
      seeded(60),
    );
  });
});
