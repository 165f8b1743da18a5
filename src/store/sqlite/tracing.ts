/** Reads how single tasks went. */
import { setImmediate } from "node:timers/promises";
import { type Database, prepareAll, type Row, type SqlValue } from "../../runtime/sqlite.ts";
import { toGroup, toTracedPage, toTry } from "../rows.ts";
import type { Sought, TracedPage, TryGroup, TryWrite } from "../store.ts";

type Names =
  | "pagesOfTask"
  | "pagesEdge"
  | "pagesOfUrl"
  | "triesOfTask"
  | "triesEdge"
  | "triesOfUrl"
  | "slowestPages"
  | "groupTries";

/** Does one piece of work on the file, and says it where the file is at fault. */
type Step = <T>(work: () => T) => T;

export type Tracing = {
  pages(sought: Sought, step: Step): Promise<TracedPage[]>;
  tries(sought: Sought, step: Step): Promise<TryWrite[]>;
  slowest(jobId: string, limit: number): TracedPage[];
  groups(jobId: string, limit: number): TryGroup[];
};

/** `start`: before the first. `most`: rows that are told. */
type Kind = { byTask: Names; byUrl: Names; edge: Names; start: SqlValue; most: number };

const PAGES: Kind = { byTask: "pagesOfTask", byUrl: "pagesOfUrl", edge: "pagesEdge", start: 0, most: 20 };
const TRIES: Kind = { byTask: "triesOfTask", byUrl: "triesOfUrl", edge: "triesEdge", start: "", most: 100 };

/** `stretch`: rows that are looked at before others of this process have their turn; a job may have millions. */
export function createTracing(db: Database, { stretch }: { stretch: number }): Tracing {
  const sql = prepareAll<Names>(db, new URL("./sql/trace.sql", import.meta.url));

  async function find({ byTask, byUrl, edge, start, most }: Kind, sought: Sought, step: Step): Promise<Row[]> {
    if ("taskId" in sought) return step(() => sql[byTask].all(sought.taskId));
    const { jobId, url } = sought;
    const found: Row[] = [];
    for (let after = start; found.length < most; ) {
      const last = step(() => sql[edge].get(jobId, after, stretch)?.edge) ?? null;
      if (last === null) break;
      found.push(...step(() => sql[byUrl].all(jobId, url, after, last)));
      after = last;
      await setImmediate();
    }
    return found.slice(0, most);
  }

  return {
    pages: async (sought, step) => (await find(PAGES, sought, step)).map(toTracedPage),
    tries: async (sought, step) => (await find(TRIES, sought, step)).map(toTry),
    slowest: (jobId, limit) => sql.slowestPages.all(jobId, limit).map(toTracedPage),
    groups: (jobId, limit) => sql.groupTries.all(jobId, limit).map(toGroup),
  };
}
