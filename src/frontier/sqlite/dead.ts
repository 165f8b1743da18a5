/** Dead letters as a query: list, group, replay at a rate, discard (F15). */
import { onlineSite } from "../../domain/offline-site.ts";
import type { DeadReason } from "../../domain/task.ts";
import { type Database, prepareAll, type SqlValue } from "../../runtime/sqlite.ts";
import { chosenTasks } from "../chosen-tasks.ts";
import { BATCH_MOST } from "../frontier.ts";
import type { DeadFilter, DeadGroups, DeadLetter, Misfortune, Replayed } from "../frontier-admin.ts";
import type { DeadRow } from "./rows.ts";
import type { Step, Stepper } from "./step.ts";

type Names = "list" | "listChosen" | "group" | "countAll" | "drop" | "revive";

export type DeadLetters = {
  list(filter: DeadFilter, limit: number, after: number): DeadLetter[];
  group(filter: DeadFilter, limit: number): DeadGroups;
  count(): number;
  replay(filter: DeadFilter, limit: number, perSecond: number): Replayed;
  discard(filter: DeadFilter, limit: number): number;
};

type FullDeadRow = DeadRow & { job_id: string };
type Deps = { db: Database; stepper: Stepper };

export function createDeadLetters({ db, stepper }: Deps): DeadLetters {
  const sql = prepareAll<Names>(db, new URL("./sql/dead.sql", import.meta.url));

  function rows(filter: DeadFilter, limit: number, after: number, replayable: boolean): FullDeadRow[] {
    const words = [...filterValues(filter), after, limit, replayable ? 1 : 0];
    const { taskIds } = filter;
    const found =
      taskIds === undefined
        ? sql.list.all(...words)
        : sql.listChosen.all(...words, JSON.stringify(chosenTasks(taskIds)));
    return found as unknown as FullDeadRow[];
  }

  /** Works through what the filter finds, BATCH_MOST letters a step. */
  function inSteps(
    { filter, limit, replayable }: { filter: DeadFilter; limit: number; replayable: boolean },
    work: (step: Step, row: FullDeadRow, nth: number) => void,
  ): number {
    let total = 0;
    for (;;) {
      const most = Math.min(BATCH_MOST, limit - total);
      const before = total;
      stepper.run((step) => {
        for (const row of rows(filter, most, 0, replayable)) {
          work(step, row, total++);
          sql.drop.run(row.id);
        }
      });
      if (total - before < BATCH_MOST) return total;
    }
  }

  function revive(step: Step, row: DeadRow, dueAt: number): void {
    const job = step.job(row.job);
    const site = step.siteNamed(row.site);
    const lane = step.laneFor(job, site, row.queue, row.priority);
    const isDue = dueAt <= step.now;
    sql.revive.run(
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
      row.redirects,
      row.token,
      isDue ? null : dueAt,
    );
    job.dead -= 1;
    step.atSite(job, site).dead -= 1;
    job[isDue ? "queued" : "delayed"] += 1;
    lane[isDue ? "queued" : "delayed"] += 1;
    step.totals.pending += 1;
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
      const replayed = inSteps({ filter, limit, replayable: true }, (step, row, nth) => {
        revive(step, row, step.now + Math.floor(nth / perSecond) * 1000);
        jobIds.add(row.job_id);
      });
      return { replayed, jobIds: [...jobIds].sort() };
    },
    discard: (filter, limit) => inSteps({ filter, limit, replayable: false }, () => {}),
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
    history: JSON.parse(row.history) as Misfortune[],
  };
}
