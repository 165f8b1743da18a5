/**
 * Large operations are several transactions. These tests crash the process before each of them: the ledgers must
 * balance at once, no task of a stopped job may be granted, and the next reaper must finish the operation.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ledgerGap } from "../../../src/domain/job.ts";
import { MAX_BATCH } from "../../../src/frontier/frontier.ts";
import { createSeenCache } from "../../../src/frontier/seen-cache.ts";
import { createAdmitMany } from "../../../src/frontier/sqlite/admit-many.ts";
import { createDeadLetters } from "../../../src/frontier/sqlite/dead.ts";
import { createAdmit } from "../../../src/frontier/sqlite/enqueue.ts";
import { createJobs } from "../../../src/frontier/sqlite/jobs.ts";
import { openSqliteFrontier } from "../../../src/frontier/sqlite/open.ts";
import { createSettler } from "../../../src/frontier/sqlite/settle.ts";
import { createRunTransaction } from "../../../src/frontier/sqlite/transaction.ts";
import { type Database, openDatabase } from "../../../src/runtime/sqlite.ts";
import { createManualClock } from "../../model/manual-clock.ts";
import { auditFile } from "../../model/sqlite-audit.ts";
import { type AnyFrontier, START_AT } from "./backend.ts";
import { aJob, aTask, grantsOf, settleAll, settlementOf, submit, tasksAt, viewOf } from "./makers.ts";

const MANY = MAX_BATCH + 10;
const CRASH = "the process crashed here";

describe("a process that crashes between two transactions of one operation", () => {
  const clock = createManualClock(START_AT);
  let folder = "";
  let path = "";
  let frontier: AnyFrontier;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "trawl-crash-"));
    path = join(folder, "broker.db");
    frontier = openSqliteFrontier(path, { clock }, { maxPending: 1e6, busyMs: 1000, pollMs: 1000 });
  });
  afterEach(async () => {
    await frontier.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The parts of a frontier on the same file, in a process that crashes after `writes` transactions. */
  function crashingAfter(writes: number) {
    const db = openDatabase(path, { durability: "normal", busyMs: 1000, pageBytes: 4096 });
    let left = writes;
    const crashing: Database = {
      ...db,
      write(work) {
        if (left-- === 0) throw new Error(CRASH);
        return db.write(work);
      },
    };
    const runTransaction = createRunTransaction({ db: crashing, now: () => clock.now(), seen: createSeenCache() });
    const admit = createAdmit(crashing);
    const deps = { db: crashing, runTransaction, admit, admitMany: createAdmitMany(crashing, admit) };
    return { jobs: createJobs(deps), leases: createSettler(deps), dead: createDeadLetters(deps) };
  }

  async function reapAll(): Promise<void> {
    while ((await frontier.reap(100)) > 0);
  }

  for (const writes of [1, 2, 3]) {
    it(`F10 F12 a cancel that crashed after ${writes} transactions stops the job, and a reaper ends it`, async () => {
      const sites = Array.from({ length: MANY }, (_, nth) => aTask(`https://site-${nth}.test/`));
      await submit(frontier, aJob(), [...sites, ...tasksAt("a.test", MANY)]);
      const [grant] = await grantsOf(frontier, { max: 1 });

      expect(() => crashingAfter(writes).jobs.cancel("job")).toThrow(CRASH);

      expect(await viewOf(frontier)).toMatchObject({
        state: "cancelled",
        counts: { cancelled: 2 * MANY - 1, leased: 1 },
      });
      expect(await grantsOf(frontier)).toEqual([]);
      await settleAll(frontier, grant === undefined ? [] : [grant], { discovered: tasksAt("b.test", 1) });
      await reapAll();
      expect((await viewOf(frontier)).counts).toMatchObject({ cancelled: 2 * MANY - 1, done: 1, refused: 1 });
      expect(auditFile(path)).toEqual({});
    });

    it(`F12 a reaper completes a change of priority that crashed after ${writes} transactions`, async () => {
      const sites = Array.from({ length: 2 * MANY }, (_, nth) => aTask(`https://site-${nth}.test/`));
      await submit(frontier, aJob(), sites);
      await submit(frontier, aJob({ id: "other" }), [aTask("https://other.test/", { priority: 3 })]);

      expect(() => crashingAfter(writes).jobs.setPriority("job", 0)).toThrow(CRASH);

      await reapAll();
      expect(auditFile(path)).toEqual({});
      const order = await grantsOf(frontier, { max: 3 });
      expect(order.map(({ jobId }) => jobId)).toEqual(["job", "job", "job"]);
    });

    it(`F12 a pause that crashed after ${writes} transactions stops the grants of this job only`, async () => {
      const sites = Array.from({ length: 2 * MANY }, (_, nth) => aTask(`https://site-${nth}.test/`));
      await submit(frontier, aJob(), sites);
      clock.advance(1);
      await submit(frontier, aJob({ id: "other" }), [aTask("https://other.test/")]);

      expect(() => crashingAfter(writes).jobs.pause("job")).toThrow(CRASH);

      // A call skips a bounded number of sites of the paused job, so it may take several calls to get past all.
      const granted = [];
      for (let calls = 0; calls < 5; calls++) granted.push(...(await grantsOf(frontier, { max: 2 })));
      expect(granted.map(({ jobId }) => jobId)).toEqual(["other"]);
      await reapAll();
      expect(auditFile(path)).toEqual({});
    });
  }

  it("F8 a settlement of many pages that crashed half way leaves the rest leased", async () => {
    await submit(frontier, aJob(), tasksAt("a.test", 3));
    const grants = await grantsOf(frontier);
    const all = grants.map((grant, nth) => settlementOf(grant, { discovered: tasksAt(`b${nth}.test`, 1500) }));

    expect(() => crashingAfter(1).leases.settle(all)).toThrow(CRASH);

    const { counts } = await viewOf(frontier);
    expect(counts).toMatchObject({ done: 1, leased: 2, discovered: 1500, queued: 1500 });
    const { states } = await frontier.settle(all);
    expect(states).toEqual(["stale", "done", "done"]);
    expect((await viewOf(frontier)).counts).toMatchObject({ done: 3, leased: 0, discovered: 4500, queued: 4500 });
    expect(auditFile(path)).toEqual({});
  });

  it("F15 a replay or discard that crashed half way has moved each letter completely or not at all", async () => {
    await submit(frontier, aJob(), tasksAt("a.test", 3 * MAX_BATCH));
    for (let nth = 0; nth < 3; nth++) {
      await settleAll(frontier, await grantsOf(frontier, { max: MAX_BATCH }), {
        outcome: { kind: "dead", because: "too_big" },
      });
    }

    expect(() => crashingAfter(1).dead.replay({}, 1e6, 1e6)).toThrow(CRASH);
    expect((await viewOf(frontier)).counts).toMatchObject({ queued: MAX_BATCH, dead: 2 * MAX_BATCH });
    expect(() => crashingAfter(1).dead.discard({}, 1e6)).toThrow(CRASH);

    expect(await frontier.listDead({}, 1e6)).toHaveLength(MAX_BATCH);
    expect(ledgerGap((await viewOf(frontier)).counts)).toBe(0);
    expect(auditFile(path)).toEqual({});
  });
});
