/** Reads how single tasks went. */
import type { TaskKind } from "../../domain/task.ts";
import { type Database, prepareAll, type Row, type SqlValue } from "../../runtime/sqlite.ts";
import type { Run, Sought, TracedPage, TryFate, TryGroup, TryWrite } from "../store.ts";
import { optionalText, toStoredPage } from "./page-row.ts";

type Names = "pagesOfTask" | "pagesOfUrl" | "triesOfTask" | "triesOfUrl" | "slowestPages" | "groupTries";

export type Tracing = {
  pages(sought: Sought): TracedPage[];
  tries(sought: Sought): TryWrite[];
  slowest(jobId: string, limit: number): TracedPage[];
  groups(jobId: string, limit: number): TryGroup[];
};

export function createTracing(db: Database): Tracing {
  const sql = prepareAll<Names>(db, new URL("./sql/trace.sql", import.meta.url));

  function find(byTask: Names, byUrl: Names, sought: Sought): Row[] {
    if ("taskId" in sought) return sql[byTask].all(sought.taskId);
    return sql[byUrl].all(sought.jobId, sought.url);
  }

  return {
    pages: (sought) => find("pagesOfTask", "pagesOfUrl", sought).map(toTracedPage),
    tries: (sought) => find("triesOfTask", "triesOfUrl", sought).map(toTry),
    slowest: (jobId, limit) => sql.slowestPages.all(jobId, limit).map(toTracedPage),
    groups: (jobId, limit) => sql.groupTries.all(jobId, limit).map(toGroup),
  };
}

function toTracedPage(row: Row): TracedPage {
  return {
    ...toStoredPage(String(row.job_id), row),
    run: optionalText(row.worker_name) === undefined ? undefined : toRun(row),
  };
}

function toRun(row: Row): Run {
  return {
    worker: String(row.worker_name),
    step: (optionalText(row.step) ?? "fetch") as TaskKind, // of older pages nobody noted it
    attempt: Number(row.attempt),
    leasedAt: Number(row.leased_at),
    endedAt: Number(row.ended_at),
  };
}

function toTry(row: Row): TryWrite {
  return {
    jobId: String(row.job_id),
    taskId: String(row.task),
    token: Number(row.token),
    url: String(row.url),
    run: toRun(row),
    fate: String(row.fate) as TryFate,
    because: String(row.because),
    status: optionalNumber(row.status),
    detail: optionalText(row.detail),
  };
}

function toGroup(row: Row): TryGroup {
  return {
    fate: String(row.fate) as TryFate,
    because: String(row.because),
    status: optionalNumber(row.status),
    tries: Number(row.tries),
    sample: String(row.sample),
  };
}

function optionalNumber(value: SqlValue | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}
