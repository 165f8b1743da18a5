/** Reads how single tasks went. */
import { type Database, prepareAll, type Row } from "../../runtime/sqlite.ts";
import { toGroup, toTracedPage, toTry } from "../rows.ts";
import type { Sought, TracedPage, TryGroup, TryWrite } from "../store.ts";

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
