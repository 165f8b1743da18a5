import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import { readSql } from "../../runtime/sqlite.ts";
import { memoryPageKey, toMemory } from "../page-memory.ts";
import { toAttempt, toAttemptGroup, toInvalidRecord, toStoredPage, toStoredRecord, toTracedPage } from "../rows.ts";
import type { ControlStores, Store, TaskQuery } from "../store.ts";
import { createBatchWriter } from "./batch-writer.ts";
import {
  encodeArray,
  openConnection,
  type PostgresConnection,
  type PostgresRow,
  type PostgresValue,
} from "./connection.ts";
import { parsePostgresUrl } from "./connection-url.ts";
import { createHistoryStore } from "./history-store.ts";
import { createJobArchive } from "./job-archive.ts";
import { createJobOwners } from "./job-owners.ts";
import { createKeyStore } from "./key-store.ts";
import { migrate } from "./migrate.ts";
import { createScheduleStore } from "./schedule-store.ts";
import { createWebhookStore } from "./webhook-store.ts";

type PostgresStoreOptions = {
  /** How long the server may be unreachable before a call fails. */
  retryForMs: number;
};

/**
 * Opens a store in one schema of a PostgreSQL database, created if missing, for any number of processes on any number
 * of machines. When `write` has resolved, its batch is on the server's disk. Throws BAD_CONFIG, STORE_UNREACHABLE for a
 * server that cannot be used, STORE_SCHEMA for a schema that a newer Trawl has written.
 */
export async function openPostgresStore(
  url: string,
  deps: { clock: Clock; log: Log },
  options: PostgresStoreOptions,
): Promise<Store & ControlStores> {
  const parsed = parsePostgresUrl(url);
  const connection = openConnection(parsed, deps, options);
  try {
    await migrate(connection, parsed);
    return storeOn(connection);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

type ReadNames = keyof Pick<
  Store,
  "readRecords" | "readRecordsOfPage" | "readPages" | "readInvalid" | "findPage" | "countRecords" | "countUnchanged"
>;

function storeOn(connection: PostgresConnection): Store & ControlStores {
  const write = createBatchWriter(connection);
  const sql = readSql<ReadNames>(new URL("./sql/read.sql", import.meta.url));
  const query: Query = (op, text, ...values) => connection.query(`store.${op}`, text, values);
  return {
    write: (batch, attempts = [], memories = []) => write(batch, attempts, memories),
    ...memoryQueries(query),
    async readRecords(jobId, afterId, limit) {
      const rows = await query("readRecords", sql.readRecords, jobId, afterId, limit);
      return rows.map((row) => toStoredRecord(jobId, row));
    },
    async readPages(jobId, afterId, limit) {
      const rows = await query("readPages", sql.readPages, jobId, afterId, limit);
      return rows.map((row) => toStoredPage(jobId, row));
    },
    async readInvalid(jobId, afterId, limit) {
      return (await query("readInvalid", sql.readInvalid, jobId, afterId, limit)).map(toInvalidRecord);
    },
    async findPage(id) {
      const [row] = await query("findPage", sql.findPage, id);
      return row === undefined ? undefined : toStoredPage(String(row.job_id), row);
    },
    async readRecordsOfPage(id, limit) {
      const rows = await query("readRecordsOfPage", sql.readRecordsOfPage, id, limit);
      return rows.map((row) => toStoredRecord(String(row.job_id), row));
    },
    async countRecords(jobId) {
      const [row] = await query("countRecords", sql.countRecords, jobId);
      return Number(row?.records ?? 0);
    },
    async countUnchanged(jobId) {
      const [row] = await query("countUnchanged", sql.countUnchanged, jobId);
      return Number(row?.pages ?? 0);
    },
    ...traceQueries(query),
    keys: createKeyStore(connection),
    owners: createJobOwners(connection),
    schedules: createScheduleStore(connection),
    webhooks: createWebhookStore(connection),
    archive: createJobArchive(connection),
    history: createHistoryStore(connection),
    close: () => connection.close(),
  };
}

type Query = (op: keyof Store, text: string, ...values: PostgresValue[]) => Promise<readonly PostgresRow[]>;

function memoryQueries(query: Query): Pick<Store, "recall" | "forgetSet"> {
  const sql = readSql<"recall" | "forgetSet">(new URL("./sql/memories.sql", import.meta.url));
  return {
    async recall(requests) {
      const columns = [
        requests.map((_, at) => at),
        requests.map(({ set }) => set),
        requests.map(({ url }) => memoryPageKey(url)),
        requests.map(({ jobId }) => jobId),
      ];
      const rows = await query("recall", sql.recall, ...columns.map(encodeArray));
      const found = new Map(rows.map((row) => [Number(row.at), row]));
      return requests.map((_, at) => {
        const row = found.get(at);
        return row === undefined ? undefined : toMemory(row, row.content === null ? undefined : String(row.content));
      });
    },
    async forgetSet(set) {
      await query("forgetSet", sql.forgetSet, set);
    },
  };
}

type TraceQueries = Pick<Store, "tracePages" | "traceAttempts" | "slowestPages" | "groupAttempts">;
type TraceNames = "pagesOfTask" | "pagesOfUrl" | "attemptsOfTask" | "attemptsOfUrl" | "slowestPages" | "groupAttempts";

function traceQueries(query: Query): TraceQueries {
  const sql = readSql<TraceNames>(new URL("./sql/trace.sql", import.meta.url));
  const find = (op: keyof TraceQueries, byTask: string, byUrl: string, target: TaskQuery) =>
    "taskId" in target ? query(op, byTask, target.taskId) : query(op, byUrl, target.jobId, target.url);
  return {
    tracePages: async (target) => (await find("tracePages", sql.pagesOfTask, sql.pagesOfUrl, target)).map(toTracedPage),
    traceAttempts: async (target) =>
      (await find("traceAttempts", sql.attemptsOfTask, sql.attemptsOfUrl, target)).map(toAttempt),
    slowestPages: async (jobId, limit) =>
      (await query("slowestPages", sql.slowestPages, jobId, limit)).map(toTracedPage),
    groupAttempts: async (jobId, limit) =>
      (await query("groupAttempts", sql.groupAttempts, jobId, limit)).map(toAttemptGroup),
  };
}
