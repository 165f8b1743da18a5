/**
 * The one place that knows which SQLite this Node has: the built-in one (22.13 and later), else a package with the same
 * API and its binary inside. Also reads `.sql` files, in which every statement is introduced by `-- name: theName`.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { dirname } from "node:path";

export type SqlValue = null | number | bigint | string | Uint8Array;
export type Row = Record<string, SqlValue>;

export type Statement = {
  run(...values: SqlValue[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
};

export type Database = {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  /** Runs `work` in one write transaction: all of it or nothing. */
  write<T>(work: () => T): T;
  close(): void;
};

export type DatabaseOptions = {
  /** `full` survives a power cut from the moment a write returns; `normal` survives the death of every process. */
  durability: "full" | "normal";
  /** How long a writer waits for another process before it gives up. */
  busyMs: number;
  /** Takes effect on a new file. Large rows want large pages: records of 8 KB cost 60 µs on 16 KB pages, 75 on 4 KB. */
  pageBytes: 4096 | 16384;
};

/** How large the log grows before it is folded into the file. */
const LOG_BYTES = 32 * 1024 * 1024;

/** Opens a file (made if missing, with its folders) for any number of processes. */
export function openDatabase(path: string, { durability, busyMs, pageBytes }: DatabaseOptions): Database {
  if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true });
  const { DatabaseSync } = loadSqlite();
  const db = new DatabaseSync(path);
  try {
    db.exec(`PRAGMA busy_timeout = ${busyMs}`);
    db.exec(`PRAGMA page_size = ${pageBytes}`);
    keepLog(db, busyMs);
    db.exec(`PRAGMA synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`);
    // What changes often is then written to the file itself fewer times.
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
      closeWhole(db);
    },
  };
}

/**
 * Of several processes that open a new file at once, one turns it into a file with a log; the others are told at once that
 * it is locked, however long they are willing to wait (8 of 360, where six opened 60 files).
 */
function keepLog(db: RawDatabase, busyMs: number): void {
  for (const until = Date.now() + busyMs; ; ) {
    try {
      db.exec("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (!String(error).includes("database is locked") || Date.now() >= until) throw error;
      Atomics.wait(PAUSE, 0, 0, LOOK_AGAIN_MS);
    }
  }
}

const LOOK_AGAIN_MS = 5;
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** Reads `-- name: x` blocks of a `.sql` file beside the calling module. */
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

/** Prepares every statement of a `.sql` file, each on its first use. */
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

/** Node 22 calls its SQLite experimental on stderr of every command; the tests of this folder hold it to its word. */
function quietly<T>(work: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * One driver keeps a closed file's log until its statements are garbage: fold it ourselves, as far as other processes
 * let us and without waiting for them, so that the one file is whole and can be copied. Should that fail, nothing is
 * lost: the next process to open the file does it.
 */
function closeWhole(db: RawDatabase): void {
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
  if (isBuiltin("node:sqlite")) return quietly(() => require("node:sqlite") as SqliteModule);
  return require("@photostructure/sqlite") as SqliteModule;
}

function inTransaction<T>(db: RawDatabase, work: () => T): T {
  db.exec("BEGIN IMMEDIATE");
  try {
    const answer = work();
    db.exec("COMMIT");
    return answer;
  } catch (error) {
    // SQLite has rolled back by itself after some failures (a full disk): then this finds nothing to undo.
    try {
      db.exec("ROLLBACK");
    } catch (cause) {
      if (!String(cause).includes("no transaction is active")) throw cause;
    }
    throw error;
  }
}
