import { type Database, openDatabase, prepareAll } from "../../runtime/sqlite.ts";
import { type RunOnFile, type SqliteFile, withFileErrors } from "../../runtime/sqlite-errors.ts";
import { migrate } from "../../runtime/sqlite-schema.ts";
import { toInvalidRecord, toStoredPage, toStoredRecord } from "../rows.ts";
import type { ControlStores, Store } from "../store.ts";
import { createBatchWriter } from "./batch-writer.ts";
import { createHistoryStore } from "./history-store.ts";
import { createJobArchive } from "./job-archive.ts";
import { createJobOwners } from "./job-owners.ts";
import { createKeyStore } from "./key-store.ts";
import { createPageMemories } from "./page-memories.ts";
import { createScheduleStore } from "./schedule-store.ts";
import { createTraceReader } from "./trace-reader.ts";
import { createWebhookStore } from "./webhook-store.ts";

type SqliteStoreOptions = {
  /** How long a write waits for another process's write before it fails. */
  busyMs: number;
};

/**
 * Opens a store in one SQLite file, created if missing, for any number of processes. When `write` has resolved, its
 * batch survives a power failure. Throws STORE_UNREACHABLE if the file cannot be used, STORE_SCHEMA if a newer Trawl
 * wrote it.
 */
export function openSqliteStore(path: string, { busyMs }: SqliteStoreOptions): Store & ControlStores {
  const file: SqliteFile = { what: "store", path, unreachable: "STORE_UNREACHABLE" };
  const { db, write, read, trace, memories } = withFileErrors(file, "store.open", () => openMigrated(file, busyMs));
  // SQLite is synchronous. Callers get promises, and errors as rejections.
  const run: RunOnFile = async (op, work) => withFileErrors(file, op, work);

  return {
    write: (batch, attempts = [], remembered = []) => run("store.write", () => write(batch, attempts, remembered)),
    recall: (requests) => run("store.recall", () => memories.recall(requests)),
    forgetSet: (set) => run("store.forgetSet", () => memories.forgetSet(set)),
    readRecords: (jobId, afterId, limit) => run("store.readRecords", () => read.records(jobId, afterId, limit)),
    readPages: (jobId, afterId, limit) => run("store.readPages", () => read.pages(jobId, afterId, limit)),
    readInvalid: (jobId, afterId, limit) => run("store.readInvalid", () => read.invalid(jobId, afterId, limit)),
    findPage: (id) => run("store.findPage", () => read.page(id)),
    readRecordsOfPage: (id, limit) => run("store.readRecordsOfPage", () => read.recordsOfPage(id, limit)),
    countRecords: (jobId) => run("store.countRecords", () => read.count(jobId)),
    countUnchanged: (jobId) => run("store.countUnchanged", () => read.countUnchanged(jobId)),
    tracePages: (target) => trace.pages(target, (query) => withFileErrors(file, "store.tracePages", query)),
    traceAttempts: (target) => trace.attempts(target, (query) => withFileErrors(file, "store.traceAttempts", query)),
    slowestPages: (jobId, limit) => run("store.slowestPages", () => trace.slowest(jobId, limit)),
    groupAttempts: (jobId, limit) => run("store.groupAttempts", () => trace.groups(jobId, limit)),
    keys: createKeyStore(db, run),
    owners: createJobOwners(db, run),
    schedules: createScheduleStore(db, run),
    webhooks: createWebhookStore(db, run),
    archive: createJobArchive(db, run),
    history: createHistoryStore(db, run),
    close: () => run("store.close", () => db.close()),
  };
}

/** "Trwl" in ASCII: the SQLite application id of a store. */
const STORE_FILE = 0x5472776c;

/** Number of rows that a trace scans before it yields to the event loop. They take about 10 ms. */
const TRACE_BATCH_ROWS = 10_000;

function openMigrated(file: SqliteFile, busyMs: number) {
  const db = openDatabase(file.path, { durability: "full", busyMs, pageBytes: 16384 });
  try {
    const folder = new URL("./migrations/", import.meta.url);
    migrate(db, { file, folder, applicationId: STORE_FILE, newer: "STORE_SCHEMA", setting: "TRAWL_STORE" });
    const memories = createPageMemories(db);
    const write = createBatchWriter(db, memories);
    const trace = createTraceReader(db, { batchRows: TRACE_BATCH_ROWS });
    return { db, write, read: createReaders(db), trace, memories };
  } catch (error) {
    db.close();
    throw error;
  }
}

type ReadNames =
  | "readRecords"
  | "readRecordsOfPage"
  | "readPages"
  | "findPage"
  | "readInvalid"
  | "countRecords"
  | "countUnchanged";

function createReaders(db: Database) {
  const sql = prepareAll<ReadNames>(db, new URL("./sql/read.sql", import.meta.url));
  return {
    records: (jobId: string, afterId: number, limit: number) =>
      sql.readRecords.all(jobId, afterId, limit).map((row) => toStoredRecord(jobId, row)),
    recordsOfPage: (id: number, limit: number) =>
      sql.readRecordsOfPage.all(id, limit).map((row) => toStoredRecord(String(row.job_id), row)),
    pages: (jobId: string, afterId: number, limit: number) =>
      sql.readPages.all(jobId, afterId, limit).map((row) => toStoredPage(jobId, row)),
    invalid: (jobId: string, afterId: number, limit: number) =>
      sql.readInvalid.all(jobId, afterId, limit).map(toInvalidRecord),
    page: (id: number) => {
      const row = sql.findPage.get(id);
      return row === undefined ? undefined : toStoredPage(String(row.job_id), row);
    },
    count: (jobId: string) => Number(sql.countRecords.get(jobId)?.records),
    countUnchanged: (jobId: string) => Number(sql.countUnchanged.get(jobId)?.pages),
  };
}
