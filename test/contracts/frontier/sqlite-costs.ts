/** The statements, rows and query plans of a lease call on SQLite (F4). It measures no time. */

import { createSeenCache } from "../../../src/frontier/seen-cache.ts";
import { createLease } from "../../../src/frontier/sqlite/lease.ts";
import { openSqliteFrontier } from "../../../src/frontier/sqlite/open.ts";
import { createRunTransaction } from "../../../src/frontier/sqlite/transaction.ts";
import { type Database, openDatabase, readSql, type Statement } from "../../../src/runtime/sqlite.ts";
import { createManualClock } from "../../model/manual-clock.ts";
import { type Features, START_AT } from "./backend.ts";
import { aJob, aRequest, aTask, settleAll } from "./makers.ts";

type Held = Parameters<Features["costs"]["countLeaseWork"]>[0];

const SQL_FOLDER = new URL("../../../src/frontier/sqlite/sql/", import.meta.url);
const DATABASE_OPTIONS = { durability: "normal", busyMs: 1000, pageBytes: 4096 } as const;

export async function countLeaseWork(path: string, held: Held): Promise<number> {
  await fill(path, held);
  const db = openDatabase(path, DATABASE_OPTIONS);
  const work = { done: 0 };
  const counted = counting(db, work);
  const now = () => START_AT;
  const lease = createLease({
    db: counted,
    now,
    runTransaction: createRunTransaction({ db: counted, now, seen: createSeenCache() }),
  });
  const { grants } = lease(aRequest({ max: held.max }));
  db.close();
  if (grants.length !== held.max) throw new Error(`${grants.length} of ${held.max} were granted`);
  return work.done;
}

/** Statements of a lease call whose plan scans a table or sorts in a temporary b-tree. */
export function listUnboundedPlans(path: string): string[] {
  const db = openDatabase(path, DATABASE_OPTIONS);
  db.close();
  const clock = createManualClock(START_AT);
  void openSqliteFrontier(path, { clock }, { maxPending: 1, busyMs: 1000, pollMs: 1e9 }).close();
  const made = openDatabase(path, DATABASE_OPTIONS);
  const texts = { ...readSql(new URL("lease.sql", SQL_FOLDER)), ...readSql(new URL("transaction.sql", SQL_FOLDER)) };
  const plans = Object.entries<string>(texts).flatMap(([name, text]) =>
    made
      .prepare(`EXPLAIN QUERY PLAN ${text}`)
      .all()
      .map((row) => `${name}: ${row.detail}`),
  );
  made.close();
  return plans.filter((plan) => /SCAN|TEMP B-TREE|AUTOMATIC/.test(plan) && !isBounded(plan));
}

/** `totals` has one row. A sub-query limits its own rows. The queues of a request are few. */
function isBounded(plan: string): boolean {
  return (
    plan.endsWith("SCAN totals") ||
    plan.includes("findOtherQueue: SCAN json_each") ||
    /SCAN \(subquery-\d+\)$/.test(plan)
  );
}

async function fill(path: string, { readySites, blockedSites, tasksPerSite }: Held): Promise<void> {
  const clock = createManualClock(START_AT - 1000);
  const frontier = openSqliteFrontier(path, { clock }, { maxPending: 1e9, busyMs: 1000, pollMs: 1e9 });
  // The blocked sites have just been requested, so their rate blocks them.
  await frontier.createJob(aJob({ policy: { intervalMs: 1e6, burst: 1, perSite: 5 } }));
  const at = (name: string, count: number) =>
    Array.from({ length: count }, (_, site) =>
      Array.from({ length: tasksPerSite }, (_, nth) => aTask(`https://${name}-${site}.test/${nth}`)),
    ).flat();
  await frontier.enqueue("job", at("blocked", blockedSites));
  const { grants } = await frontier.lease(aRequest({ max: blockedSites }));
  await settleAll(frontier, grants);
  await frontier.enqueue("job", at("ready", readySites));
  await frontier.close();
}

/** The same database, counting statements and the rows they return or change. */
function counting(db: Database, work: { done: number }): Database {
  return {
    ...db,
    prepare(sql): Statement {
      const statement = db.prepare(sql);
      return {
        run(...values) {
          const answer = statement.run(...values);
          work.done += 1 + Number(answer.changes);
          return answer;
        },
        get(...values) {
          work.done += 1;
          return statement.get(...values);
        },
        all(...values) {
          const rows = statement.all(...values);
          work.done += 1 + rows.length;
          return rows;
        },
      };
    },
  };
}
