import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import { readSql } from "../../runtime/sqlite.ts";
import { memoryPage, toMemory } from "../page-memory.ts";
import { toGroup, toInvalidRecord, toStoredPage, toStoredRecord, toTracedPage, toTry } from "../rows.ts";
import type { Sought, Store, StoreBooks } from "../store.ts";
import { createBatchWriter } from "./batch-writer.ts";
import { arrayOf, type Connection, openConnection, type PostgresRow, type PostgresValue } from "./connection.ts";
import { createHistoryBook } from "./history-book.ts";
import { createJobArchive } from "./job-archive.ts";
import { createJobOwners } from "./job-owners.ts";
import { createKeyBook } from "./key-book.ts";
import { migrate } from "./migrate.ts";
import { parsePostgresPlace } from "./place.ts";
import { createScheduleBook } from "./schedule-book.ts";
import { createWebhookBook } from "./webhook-book.ts";

export type PostgresStoreOptions = {
  /** How long the server may be away before a call gives up. */
  patienceMs: number;
};

/**
 * A store in one schema of a PostgreSQL database, made if missing, for any number of processes on any number of machines.
 * What `write` has answered is on the server's disk. Throws BAD_CONFIG; STORE_UNREACHABLE for a server that cannot be
 * worked with; STORE_SCHEMA for a schema that a newer Trawl has written.
 */
export async function openPostgresStore(
  url: string,
  deps: { clock: Clock; log: Log },
  options: PostgresStoreOptions,
): Promise<Store & StoreBooks> {
  const place = parsePostgresPlace(url);
  const connection = openConnection(place, deps, options);
  try {
    await migrate(connection, place);
    return storeOn(connection);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

type Reading = keyof Pick<
  Store,
  "readRecords" | "readRecordsOfPage" | "readPages" | "readInvalid" | "findPage" | "countRecords" | "countUnchanged"
>;

function storeOn(connection: Connection): Store & StoreBooks {
  const write = createBatchWriter(connection);
  const reading = readSql<Reading>(new URL("./sql/read.sql", import.meta.url));
  const ask = (op: keyof Store, text: string, ...values: PostgresValue[]) =>
    connection.ask(`store.${op}`, text, values);
  return {
    write: (batch, tries = [], memories = []) => write(batch, tries, memories),
    ...memoriesOn(ask),
    async readRecords(jobId, afterId, limit) {
      const rows = await ask("readRecords", reading.readRecords, jobId, afterId, limit);
      return rows.map((row) => toStoredRecord(jobId, row));
    },
    async readPages(jobId, afterId, limit) {
      const rows = await ask("readPages", reading.readPages, jobId, afterId, limit);
      return rows.map((row) => toStoredPage(jobId, row));
    },
    async readInvalid(jobId, afterId, limit) {
      return (await ask("readInvalid", reading.readInvalid, jobId, afterId, limit)).map(toInvalidRecord);
    },
    async findPage(id) {
      const [row] = await ask("findPage", reading.findPage, id);
      return row === undefined ? undefined : toStoredPage(String(row.job_id), row);
    },
    async readRecordsOfPage(id, limit) {
      const rows = await ask("readRecordsOfPage", reading.readRecordsOfPage, id, limit);
      return rows.map((row) => toStoredRecord(String(row.job_id), row));
    },
    async countRecords(jobId) {
      const [row] = await ask("countRecords", reading.countRecords, jobId);
      return Number(row?.records ?? 0);
    },
    async countUnchanged(jobId) {
      const [row] = await ask("countUnchanged", reading.countUnchanged, jobId);
      return Number(row?.pages ?? 0);
    },
    ...tracingOn(ask),
    keys: createKeyBook(connection),
    owners: createJobOwners(connection),
    schedules: createScheduleBook(connection),
    webhooks: createWebhookBook(connection),
    archive: createJobArchive(connection),
    history: createHistoryBook(connection),
    close: () => connection.close(),
  };
}

type Ask = (op: keyof Store, text: string, ...values: PostgresValue[]) => Promise<readonly PostgresRow[]>;

function memoriesOn(ask: Ask): Pick<Store, "recall" | "forgetSet"> {
  const sql = readSql<"recall" | "forgetSet">(new URL("./sql/memories.sql", import.meta.url));
  return {
    async recall(asked) {
      const columns = [
        asked.map((_, at) => at),
        asked.map(({ set }) => set),
        asked.map(({ url }) => memoryPage(url)),
        asked.map(({ jobId }) => jobId),
      ];
      const rows = await ask("recall", sql.recall, ...columns.map(arrayOf));
      const found = new Map(rows.map((row) => [Number(row.at), row]));
      return asked.map((_, at) => {
        const row = found.get(at);
        return row === undefined ? undefined : toMemory(row, row.content === null ? undefined : String(row.content));
      });
    },
    async forgetSet(set) {
      await ask("forgetSet", sql.forgetSet, set);
    },
  };
}

type Tracing = Pick<Store, "tracePages" | "traceTries" | "slowestPages" | "groupTries">;

/** Reads how single tasks went. */
function tracingOn(ask: Ask): Tracing {
  const sql = readSql<"pagesOfTask" | "pagesOfUrl" | "triesOfTask" | "triesOfUrl" | "slowestPages" | "groupTries">(
    new URL("./sql/trace.sql", import.meta.url),
  );
  const find = (op: keyof Tracing, byTask: string, byUrl: string, sought: Sought) =>
    "taskId" in sought ? ask(op, byTask, sought.taskId) : ask(op, byUrl, sought.jobId, sought.url);
  return {
    tracePages: async (sought) => (await find("tracePages", sql.pagesOfTask, sql.pagesOfUrl, sought)).map(toTracedPage),
    traceTries: async (sought) => (await find("traceTries", sql.triesOfTask, sql.triesOfUrl, sought)).map(toTry),
    slowestPages: async (jobId, limit) => (await ask("slowestPages", sql.slowestPages, jobId, limit)).map(toTracedPage),
    groupTries: async (jobId, limit) => (await ask("groupTries", sql.groupTries, jobId, limit)).map(toGroup),
  };
}
