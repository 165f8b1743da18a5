/** Compares the counts that a broker file stores with the tasks they count. */
import { openDatabase, type Row } from "../../src/runtime/sqlite.ts";

const CHECKS = {
  "lanes with wrong counts": `
    SELECT lanes.n, queued, delayed, leased FROM lanes WHERE (queued, delayed, leased) IS NOT (
      SELECT count(*) FILTER (WHERE state = 'queued'), count(*) FILTER (WHERE state = 'delayed'),
        count(*) FILTER (WHERE state = 'leased')
      FROM tasks WHERE tasks.lane = lanes.n)`,
  "tasks without a lane": "SELECT id FROM tasks WHERE lane NOT IN (SELECT n FROM lanes)",
  "tasks on the wrong queue for their crash count": `
    SELECT tasks.id, queue, state, crashes FROM tasks JOIN lanes ON lanes.n = tasks.lane
    WHERE (queue LIKE '%!alone') IS NOT (iif(state = 'leased' AND ahead = 0, crashes - 1, crashes) >= 2)`,
  "empty lanes": "SELECT n FROM lanes WHERE queued + delayed + leased = 0",
  "sites with a wrong count of requests in flight": `
    SELECT site, in_flight FROM sites
    WHERE in_flight <> (SELECT count(*) FROM tasks WHERE tasks.site = sites.n AND state = 'leased')`,
  "jobs with wrong counts": `
    SELECT id, queued, delayed, leased FROM jobs WHERE (queued, delayed, leased) IS NOT (
      SELECT count(*) FILTER (WHERE state = 'queued'), count(*) FILTER (WHERE state = 'delayed'),
        count(*) FILTER (WHERE state = 'leased')
      FROM tasks WHERE tasks.job = jobs.n)`,
  "turns without lanes": `
    SELECT * FROM turns WHERE NOT EXISTS (SELECT 1 FROM lanes
      WHERE lanes.site = turns.site AND lanes.queue = turns.queue AND lanes.rank = turns.rank)`,
  "lanes without a turn": `
    SELECT n FROM lanes WHERE NOT EXISTS (SELECT 1 FROM turns
      WHERE lanes.site = turns.site AND lanes.queue = turns.queue AND lanes.rank = turns.rank)`,
  "a wrong number of pending tasks": `
    SELECT pending FROM totals WHERE pending <> (SELECT count(*) FROM tasks WHERE state IN ('queued', 'delayed'))`,
  "jobs whose sites do not add up to their counts": `
    SELECT id, done, dead, pages, records, invalid, bytes FROM jobs
    WHERE submitted + discovered > duplicate + refused AND (done, dead, pages, records, invalid, bytes) IS NOT (
      SELECT sum(done), sum(dead), sum(pages), sum(records), sum(invalid), sum(bytes) FROM job_sites WHERE job = jobs.n)`,
  "jobs that are still out of sync": "SELECT id FROM jobs WHERE synced_lane IS NOT NULL",
} as const;

/** The differences in a broker file; none, unless there is a bug. */
export function auditFile(path: string): Record<string, Row[]> {
  const db = openDatabase(path, { durability: "normal", busyMs: 5000, pageBytes: 4096 });
  try {
    const found = Object.entries(CHECKS).map(([what, sql]) => [what, db.prepare(sql).all()] as const);
    return Object.fromEntries(found.filter(([, rows]) => rows.length > 0));
  } finally {
    db.close();
  }
}
