import { type Database, openDatabase, prepareAll } from "../../runtime/sqlite.ts";
import { type NamedFile, withFileErrors } from "../../runtime/sqlite-failure.ts";
import { migrate } from "../../runtime/sqlite-schema.ts";
import { toInvalidRecord, toStoredPage, toStoredRecord } from "../rows.ts";
import type { Store, StoreBooks } from "../store.ts";
import { createHistoryBook } from "./history-book.ts";
import { createJobArchive } from "./job-archive.ts";
import { createJobOwners } from "./job-owners.ts";
import { createKeyBook } from "./key-book.ts";
import { createMemories } from "./memories.ts";
import { createPageWriter } from "./page-writer.ts";
import { createScheduleBook } from "./schedule-book.ts";
import { createTracing } from "./tracing.ts";
import { createWebhookBook } from "./webhook-book.ts";

export type SqliteStoreOptions = {
  /** How long a write waits for another process's before it fails. */
  busyMs: number;
};

/**
 * A store in one SQLite file, made if missing, for any number of processes. What `write` has answered survives a power
 * cut. A file that cannot be used is STORE_UNREACHABLE, one that a newer Trawl has written STORE_SCHEMA.
 */
export function openSqliteStore(path: string, { busyMs }: SqliteStoreOptions): Store & StoreBooks {
  const file: NamedFile = { what: "store", path, unreachable: "STORE_UNREACHABLE" };
  const { db, write, read, trace, memories } = withFileErrors(file, "store.open", () => openMigrated(file, busyMs));
  /** SQLite answers at once; callers get promises, and errors as rejections. */
  const run = async <T>(op: string, work: () => T): Promise<T> => withFileErrors(file, op, work);

  return {
    write: (batch, tries = [], remembered = []) => run("store.write", () => write(batch, tries, remembered)),
    recall: (asked) => run("store.recall", () => memories.recall(asked)),
    forgetSet: (set) => run("store.forgetSet", () => memories.forgetSet(set)),
    readRecords: (jobId, afterId, limit) => run("store.readRecords", () => read.records(jobId, afterId, limit)),
    readPages: (jobId, afterId, limit) => run("store.readPages", () => read.pages(jobId, afterId, limit)),
    readInvalid: (jobId, afterId, limit) => run("store.readInvalid", () => read.invalid(jobId, afterId, limit)),
    findPage: (id) => run("store.findPage", () => read.page(id)),
    readRecordsOfPage: (id, limit) => run("store.readRecordsOfPage", () => read.recordsOfPage(id, limit)),
    countRecords: (jobId) => run("store.countRecords", () => read.count(jobId)),
    countUnchanged: (jobId) => run("store.countUnchanged", () => read.countUnchanged(jobId)),
    tracePages: (sought) => trace.pages(sought, (work) => withFileErrors(file, "store.tracePages", work)),
    traceTries: (sought) => trace.tries(sought, (work) => withFileErrors(file, "store.traceTries", work)),
    slowestPages: (jobId, limit) => run("store.slowestPages", () => trace.slowest(jobId, limit)),
    groupTries: (jobId, limit) => run("store.groupTries", () => trace.groups(jobId, limit)),
    keys: createKeyBook(db, run),
    owners: createJobOwners(db, run),
    schedules: createScheduleBook(db, run),
    webhooks: createWebhookBook(db, run),
    archive: createJobArchive(db, run),
    history: createHistoryBook(db, run),
    close: () => run("store.close", () => db.close()),
  };
}

/** "Trwl": tells a store from any other SQLite file. */
const STORE_FILE = 0x5472776c;

/** Some 10 ms of looking. */
const TRACE_STRETCH = 10_000;

function openMigrated(file: NamedFile, busyMs: number) {
  const db = openDatabase(file.path, { durability: "full", busyMs, pageBytes: 16384 });
  try {
    const folder = new URL("./migrations/", import.meta.url);
    migrate(db, { file, folder, applicationId: STORE_FILE, newer: "STORE_SCHEMA", setting: "TRAWL_STORE" });
    const memories = createMemories(db);
    const write = createPageWriter(db, memories);
    return { db, write, read: createReaders(db), trace: createTracing(db, { stretch: TRACE_STRETCH }), memories };
  } catch (error) {
    db.close();
    throw error;
  }
}

function createReaders(db: Database) {
  const { readRecords, readRecordsOfPage } = prepareAll<"readRecords" | "readRecordsOfPage">(
    db,
    new URL("./sql/read-records.sql", import.meta.url),
  );
  const { readPages, findPage } = prepareAll<"readPages" | "findPage">(
    db,
    new URL("./sql/read-pages.sql", import.meta.url),
  );
  const { readInvalid } = prepareAll<"readInvalid">(db, new URL("./sql/read-invalid.sql", import.meta.url));
  const { countRecords, countUnchanged } = prepareAll<"countRecords" | "countUnchanged">(
    db,
    new URL("./sql/count-records.sql", import.meta.url),
  );
  return {
    records: (jobId: string, afterId: number, limit: number) =>
      readRecords.all(jobId, afterId, limit).map((row) => toStoredRecord(jobId, row)),
    recordsOfPage: (id: number, limit: number) =>
      readRecordsOfPage.all(id, limit).map((row) => toStoredRecord(String(row.job_id), row)),
    pages: (jobId: string, afterId: number, limit: number) =>
      readPages.all(jobId, afterId, limit).map((row) => toStoredPage(jobId, row)),
    invalid: (jobId: string, afterId: number, limit: number) =>
      readInvalid.all(jobId, afterId, limit).map(toInvalidRecord),
    page: (id: number) => {
      const row = findPage.get(id);
      return row === undefined ? undefined : toStoredPage(String(row.job_id), row);
    },
    count: (jobId: string) => Number(countRecords.get(jobId)?.records),
    countUnchanged: (jobId: string) => Number(countUnchanged.get(jobId)?.pages),
  };
}
