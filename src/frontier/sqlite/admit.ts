/** Queues URLs of a job: exact dedup, the page limit, and the ledger, inside the caller's step (F8, F9, F10). */
import { fingerprint, fingerprintInteger } from "../../domain/fingerprint.ts";
import type { NewTask, RefuseReason } from "../../domain/task.ts";
import { type Database, prepareAll } from "../../runtime/sqlite.ts";
import type { JobRow, LaneRow } from "./rows.ts";
import type { Step } from "./step.ts";

export type AdmitAnswer = {
  queued: number;
  duplicates: number;
  refused: { index: number; reason: RefuseReason }[];
};

export type Admit = (step: Step, job: JobRow, tasks: readonly NewTask[], as: "submitted" | "discovered") => AdmitAnswer;

type Names = "see" | "seeForAWhile" | "isSeen" | "addTask";
type Verdict = "queued" | "duplicate" | RefuseReason;

export function createAdmit(db: Database): Admit {
  const sql = prepareAll<Names>(db, new URL("./sql/admit.sql", import.meta.url));

  function judge(step: Step, job: JobRow, task: NewTask): Verdict {
    if (job.stopped === 1 || job.finished_at !== null) return "job_ended";
    // Entries that lapse are not cached: the cache knows no time.
    if (job.expire_after_ms === null && step.isKnownSeen(job.scope, task.url)) return "duplicate";

    const key = fingerprintInteger(fingerprint(task.url));
    const continuesPage = task.redirects !== undefined && task.redirects > 0;
    if (!continuesPage && job.page_limit !== null && job.admitted >= job.page_limit) {
      return sql.isSeen.get(job.scope, key, step.now) === undefined ? "page_limit" : "duplicate";
    }
    const id = step.totals.next_task;
    const isNew =
      job.expire_after_ms === null
        ? sql.see.run(job.scope, key, id).changes
        : sql.seeForAWhile.run(job.scope, key, id, job.n, step.now + job.expire_after_ms, step.now).changes;
    if (job.expire_after_ms === null) step.sawNew(job.scope, task.url);
    if (Number(isNew) === 0) return "duplicate";
    if (!continuesPage) job.admitted += 1;
    return "queued";
  }

  function add(step: Step, lane: LaneRow, task: NewTask): void {
    const carry = task.carry === undefined ? null : JSON.stringify(task.carry);
    const id = step.totals.next_task++;
    const { handler = null, redirects = 0 } = task;
    sql.addTask.run(id, lane.job, lane.n, lane.site, task.url, task.kind, task.depth, handler, carry, redirects);
    lane.queued += 1;
    step.totals.pending += 1;
  }

  return (step, job, tasks, as) => {
    const answer: AdmitAnswer = { queued: 0, duplicates: 0, refused: [] };
    const laneOf = rememberLanes(step, job);
    tasks.forEach((task, index) => {
      const verdict = judge(step, job, task);
      if (verdict === "queued") {
        add(step, laneOf(task), task);
        answer.queued += 1;
      } else if (verdict === "duplicate") answer.duplicates += 1;
      else answer.refused.push({ index, reason: verdict });
    });
    job[as] += tasks.length;
    job.queued += answer.queued;
    job.duplicate += answer.duplicates;
    job.refused += answer.refused.length;
    return answer;
  };
}

/** Links of one page mostly go to one lane: look it up once. */
function rememberLanes(step: Step, job: JobRow): (task: NewTask) => LaneRow {
  const lanes = new Map<string, LaneRow>();
  return (task) => {
    const key = `${task.site} ${task.queue} ${task.priority}`;
    const known = lanes.get(key);
    if (known !== undefined) return known;
    const lane = step.laneFor(job, step.siteNamed(task.site), task.queue, task.priority);
    lanes.set(key, lane);
    return lane;
  };
}
