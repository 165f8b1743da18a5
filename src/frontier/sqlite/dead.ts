/** Dead letters (F15): list, group, replay at a rate, discard. */
import { onlineSite } from "../../domain/offline-site.ts";
import type { DeadReason } from "../../domain/task.ts";
import { type Database, prepareAll, type SqlValue } from "../../runtime/sqlite.ts";
import { MAX_BATCH } from "../frontier.ts";
import {
  type DeadFilter,
  type DeadGroups,
  type DeadLetter,
  type FailedAttempt,
  normalizeTaskIds,
  type ReplayResult,
} from "../frontier-admin.ts";
import type { DeadRow } from "./rows.ts";
import type { RunTransaction, Transaction } from "./transaction.ts";

type Names = "list" | "listByIds" | "group" | "countAll" | "drop" | "requeue";

type DeadLetters = {
  list(filter: DeadFilter, limit: number, after: number): DeadLetter[];
  group(filter: DeadFilter, limit: number): DeadGroups;
  count(): number;
  replay(filter: DeadFilter, limit: number, perSecond: number): ReplayResult;
  discard(filter: DeadFilter, limit: number): number;
};

type FullDeadRow = DeadRow & { job_id: string };
type Deps = { db: Database; runTransaction: RunTransaction };

export function createDeadLetters({ db, runTransaction }: Deps): DeadLetters {
  const sql = prepareAll<Names>(db, new URL("./sql/dead.sql", import.meta.url));

  function rows(filter: DeadFilter, limit: number, after: number, replayable: boolean): FullDeadRow[] {
    const values = [...filterValues(filter), after, limit, replayable ? 1 : 0];
    const { taskIds } = filter;
    const found =
      taskIds === undefined
        ? sql.list.all(...values)
        : sql.listByIds.all(...values, JSON.stringify(normalizeTaskIds(taskIds)));
    return found as unknown as FullDeadRow[];
  }

  /**
   * Applies `work` to the dead letters that match the filter, and deletes them, MAX_BATCH per transaction. Returns
   * their number.
   */
  function inBatches(
    { filter, limit, replayable }: { filter: DeadFilter; limit: number; replayable: boolean },
    work: (tx: Transaction, row: FullDeadRow, nth: number) => void,
  ): number {
    let total = 0;
    for (;;) {
      const max = Math.min(MAX_BATCH, limit - total);
      const before = total;
      runTransaction((tx) => {
        for (const row of rows(filter, max, 0, replayable)) {
          work(tx, row, total++);
          sql.drop.run(row.id);
        }
      });
      if (total - before < MAX_BATCH) return total;
    }
  }

  function requeue(tx: Transaction, row: DeadRow, dueAt: number): void {
    const job = tx.job(row.job);
    const site = tx.siteNamed(row.site);
    const lane = tx.laneFor(job, site, row.queue, row.priority);
    const isDue = dueAt <= tx.now;
    sql.requeue.run(
      row.id,
      job.n,
      lane.n,
      lane.site,
      isDue ? "queued" : "delayed",
      row.url,
      row.kind,
      row.depth,
      row.handler,
      row.carry,
      row.request,
      row.redirects,
      row.token,
      isDue ? null : dueAt,
    );
    job.dead -= 1;
    tx.countersAt(job, site).dead -= 1;
    job[isDue ? "queued" : "delayed"] += 1;
    lane[isDue ? "queued" : "delayed"] += 1;
    tx.totals.pending += 1;
    if (job.state === "finished" || job.state === "failed") {
      job.state = "running";
      job.finished_at = null;
      job.stopped = 0;
      job.deadline_at = null;
    }
  }

  return {
    list: (filter, limit, after) => rows(filter, limit, after, false).map(letterOf),
    group(filter, limit) {
      const rows = sql.group.all(...filterValues(filter), 0, limit);
      const groups = rows.map((row) => ({
        reason: row.reason as DeadReason,
        site: row.online as string,
        status: (row.status as number | null) ?? undefined,
        count: row.count as number,
        sample: row.sample as string,
      }));
      return { groups, letters: Number(rows[0]?.letters ?? 0) };
    },
    count: () => Number(sql.countAll.get()?.letters),
    replay(filter, limit, perSecond) {
      const jobIds = new Set<string>();
      const replayed = inBatches({ filter, limit, replayable: true }, (tx, row, nth) => {
        requeue(tx, row, tx.now + Math.floor(nth / perSecond) * 1000);
        jobIds.add(row.job_id);
      });
      return { replayed, jobIds: [...jobIds].sort() };
    },
    discard: (filter, limit) => inBatches({ filter, limit, replayable: false }, () => {}),
  };
}

function filterValues({ jobId, reason, site, status }: DeadFilter): SqlValue[] {
  return [jobId ?? null, reason ?? null, site === undefined ? null : onlineSite(site), status ?? null];
}

function letterOf(row: FullDeadRow): DeadLetter {
  return {
    taskId: String(row.id),
    jobId: row.job_id,
    url: row.url,
    site: onlineSite(row.site),
    reason: row.reason as DeadReason,
    status: row.status ?? undefined,
    diedAt: row.died_at,
    history: JSON.parse(row.history) as FailedAttempt[],
  };
}
