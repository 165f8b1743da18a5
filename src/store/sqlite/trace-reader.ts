/** Reads pages and attempts by task, URL or job, for `trawl trace` and the API. */
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type Database, prepareAll, type Row, type SqlValue } from "../../runtime/sqlite.ts";
import { toAttempt, toAttemptGroup, toTracedPage } from "../rows.ts";
import type { AttemptGroup, AttemptWrite, TaskQuery, TracedPage } from "../store.ts";

type Names =
  | "pagesOfTask"
  | "lastPageOfBatch"
  | "pagesOfUrl"
  | "attemptsOfTask"
  | "lastTaskOfBatch"
  | "attemptsOfUrl"
  | "slowestPages"
  | "groupAttempts";

/** Runs one query. Converts errors of the database file to errors with a code. */
type RunQuery = <T>(query: () => T) => T;

type TraceReader = {
  pages(target: TaskQuery, run: RunQuery): Promise<TracedPage[]>;
  attempts(target: TaskQuery, run: RunQuery): Promise<AttemptWrite[]>;
  slowest(jobId: string, limit: number): TracedPage[];
  groups(jobId: string, limit: number): AttemptGroup[];
};

/** `start`: a key that is lower than all keys of the table. `limit`: maximum number of rows returned by URL. */
type TracedTable = { byTask: Names; byUrl: Names; lastOfBatch: Names; start: SqlValue; limit: number };

const PAGES: TracedTable = {
  ...{ byTask: "pagesOfTask", byUrl: "pagesOfUrl", lastOfBatch: "lastPageOfBatch" },
  ...{ start: 0, limit: 20 },
};
const ATTEMPTS: TracedTable = {
  ...{ byTask: "attemptsOfTask", byUrl: "attemptsOfUrl", lastOfBatch: "lastTaskOfBatch" },
  ...{ start: "", limit: 100 },
};

/** `batchRows`: rows scanned before yielding to the event loop. A job may have millions of rows. */
export function createTraceReader(db: Database, { batchRows }: { batchRows: number }): TraceReader {
  const sql = prepareAll<Names>(db, new URL("./sql/trace.sql", import.meta.url));

  async function find(table: TracedTable, target: TaskQuery, run: RunQuery): Promise<Row[]> {
    const { byTask, byUrl, lastOfBatch, start, limit } = table;
    if ("taskId" in target) return run(() => sql[byTask].all(target.taskId));
    const { jobId, url } = target;
    const found: Row[] = [];
    for (let after = start; found.length < limit; ) {
      const last = run(() => sql[lastOfBatch].get(jobId, after, batchRows)?.last) ?? null;
      if (last === null) break;
      found.push(...run(() => sql[byUrl].all(jobId, url, after, last)));
      after = last;
      await yieldToEventLoop();
    }
    return found.slice(0, limit);
  }

  return {
    pages: async (target, run) => (await find(PAGES, target, run)).map(toTracedPage),
    attempts: async (target, run) => (await find(ATTEMPTS, target, run)).map(toAttempt),
    slowest: (jobId, limit) => sql.slowestPages.all(jobId, limit).map(toTracedPage),
    groups: (jobId, limit) => sql.groupAttempts.all(jobId, limit).map(toAttemptGroup),
  };
}
