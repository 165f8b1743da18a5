/**
 * Chooses the SQLite driver: the one built into Node (22.13 and later), otherwise a package with the same API that
 * ships its own binary. Also reads `.sql` files, in which `-- name: theName` precedes every statement.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { dirname } from "node:path";

export type SqlValue = null | number | bigint | string | Uint8Array;
export type Row = Record<string, SqlValue>;

/** Either the values for each `?` in order, or one object with the values for each `:name`. */
type Parameters = SqlValue[] | [Readonly<Record<string, SqlValue>>];

export type Statement = {
  run(...values: Parameters): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
};

export type Database = {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  /** Runs `work` in one write transaction. */
  write<T>(work: () => T): T;
  close(): void;
};

type DatabaseOptions = {
  /** `full`: a committed write survives a power failure. `normal`: it survives only crashes of processes. */
  durability: "full" | "normal";
  /** How long a writer waits for the lock of another process before it fails. */
  busyMs: number;
  /** Applies to new files. Large rows need large pages: an 8 KB record costs 60 µs on 16 KB pages, 75 µs on 4 KB. */
  pageBytes: 4096 | 16384;
};

/** Size of the write-ahead log at which it is checkpointed into the file. */
const LOG_BYTES = 32 * 1024 * 1024;

/** Opens a file for any number of processes. Creates it and its folders if missing. */
export function openDatabase(path: string, { durability, busyMs, pageBytes }: DatabaseOptions): Database {
  if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true });
  const { DatabaseSync } = loadSqlite();
  const db = new DatabaseSync(path);
  try {
    db.exec(`PRAGMA busy_timeout = ${busyMs}`);
    db.exec(`PRAGMA page_size = ${pageBytes}`);
    setWalMode(db, busyMs);
    db.exec(`PRAGMA synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`);
    // This is larger than the default, so that a page that changes often is copied to the database file less often.
    db.exec(`PRAGMA wal_autocheckpoint = ${LOG_BYTES / pageBytes}`);
  } catch (error) {
    db.close();
    throw error;
  }
  let open = true;
  return {
    exec: (sql) => db.exec(sql),
    prepare: (sql) => db.prepare(sql),
    write: (work) => inTransaction(db, work),
    close: () => {
      if (!open) return;
      open = false;
      closeCheckpointed(db);
    },
  };
}

/**
 * Switches the file to WAL mode. When several processes open a new file together, one of them switches it. The others
 * may fail immediately with "database is locked", whatever their busy timeout is, so the call is retried here.
 * Measured: 8 failures in 360 opens, with six processes and 60 files.
 */
function setWalMode(db: RawDatabase, busyMs: number): void {
  for (const until = Date.now() + busyMs; ; ) {
    try {
      db.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (!String(error).includes("database is locked") || Date.now() >= until) throw error;
      Atomics.wait(PAUSE, 0, 0, RETRY_MS);
    }
  }
}

const RETRY_MS = 5;
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** Reads the statements of a `.sql` file by name. */
export function readSql<Names extends string>(file: URL): Record<Names, string> {
  const blocks = readFileSync(file, "utf8")
    .split(/^-- name: */m)
    .slice(1);
  return Object.fromEntries(
    blocks.map((block) => {
      const end = block.indexOf("\n");
      return [block.slice(0, end).trim(), block.slice(end + 1).trim()];
    }),
  ) as Record<Names, string>;
}

/** Prepares the statements of a `.sql` file, each on first use. */
export function prepareAll<Names extends string>(db: Database, file: URL): Record<Names, Statement> {
  const texts = readSql<Names>(file);
  const ready = new Map<string, Statement>();
  return new Proxy({} as Record<Names, Statement>, {
    get(_, name: string) {
      const known = ready.get(name);
      if (known !== undefined) return known;
      const text = texts[name as Names];
      if (text === undefined) throw new Error(`no statement named ${name} in ${file.pathname}`);
      const statement = db.prepare(text);
      ready.set(name, statement);
      return statement;
    },
  });
}

/** Suppresses Node 22's warning that its SQLite is experimental. Trawl's tests cover the features that Trawl uses. */
function withoutWarnings<T>(work: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * Checkpoints the log, then closes. One driver keeps the log of a closed file until its statements are
 * garbage-collected; after a checkpoint the file is complete and can be copied. The checkpoint does not wait for other
 * processes. If it fails, nothing is lost: the next process that opens the file runs it.
 */
function closeCheckpointed(db: RawDatabase): void {
  try {
    db.exec("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    db.close();
  }
}

type RawDatabase = { exec(sql: string): void; prepare(sql: string): Statement; close(): void };
type SqliteModule = { DatabaseSync: new (path: string) => RawDatabase };

function loadSqlite(): SqliteModule {
  const require = createRequire(import.meta.url);
  if (isBuiltin("node:sqlite")) return withoutWarnings(() => require("node:sqlite") as SqliteModule);
  return require("@photostructure/sqlite") as SqliteModule;
}

function inTransaction<T>(db: RawDatabase, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    // After some failures, such as a full disk, SQLite has already rolled back.
    try {
      db.exec("ROLLBACK");
    } catch (cause) {
      if (!String(cause).includes("no transaction is active")) throw cause;
    }
    throw error;
  }
}
