/**
 * Migrates a schema to the version of this Trawl: runs numbered `.sql` files in order. The statements of a migration
 * never change. Every process that opens a store calls `migrate`. All migrations run in one transaction under a lock:
 * one process runs them, the others wait and then have nothing to run, and a crash leaves all or none of them applied.
 */
import { readdirSync, readFileSync } from "node:fs";
import { TrawlError } from "../../errors.ts";
import { readSql } from "../../runtime/sqlite.ts";
import type { Transaction } from "./connect.ts";
import type { PostgresConnection, PostgresRow } from "./connection.ts";
import type { PostgresUrl } from "./connection-url.ts";

const FOLDER = new URL("./migrations/", import.meta.url);
const SQL = readSqlOnce();

/** Timeout of all migrations. Changes to large tables are slow. */
const MIGRATE_MS = 30 * 60_000;

/** PostgreSQL 12, in the form of `server_version_num`. */
const OLDEST_SERVER = 120_000;

/**
 * Throws if the schema belongs to another application, if a newer Trawl has written it, or if the server is unsuitable.
 */
export async function migrate(connection: PostgresConnection, url: PostgresUrl): Promise<void> {
  const sql = SQL();
  const migrations = readdirSync(FOLDER)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  const [facts = {}] = await connection.query("store.open", sql.findFacts, [url.schema]);
  checkServer(url, facts);
  // Usually the schema is up to date, and no lock is needed.
  if (facts.is_ours === true) {
    const [{ version } = {}] = await connection.query("store.open", sql.findVersion, []);
    if (checkedVersion(url, Number(version), migrations.length) === migrations.length) return;
  }
  await connection.transaction("store.open", (transaction) => runMigrations(transaction, url, migrations), MIGRATE_MS);
}

async function runMigrations(transaction: Transaction, url: PostgresUrl, migrations: readonly string[]): Promise<void> {
  const sql = SQL();
  await transaction.unsafe(sql.lock, [url.schema]);
  // Another process may have migrated the schema since the first check.
  const [facts = {}] = (await transaction.unsafe(sql.findFacts, [url.schema])) as PostgresRow[];
  if (facts.is_ours !== true) {
    if (Number(facts.others) > 0) throw foreignSchema(url);
    // PostgreSQL accepts no parameter here. The name was validated to need no quotes.
    if (facts.has_schema !== true) await transaction.unsafe(`CREATE SCHEMA ${url.schema}`);
    await transaction.unsafe(sql.mark);
  }
  const [{ version } = {}] = (await transaction.unsafe(sql.findVersion)) as PostgresRow[];
  const known = checkedVersion(url, Number(version), migrations.length);
  for (const name of migrations.slice(known)) await transaction.unsafe(readFileSync(new URL(name, FOLDER), "utf8"));
  await transaction.unsafe(sql.setVersion, [migrations.length]);
}

function checkServer({ shown }: PostgresUrl, { server_version, server_encoding }: PostgresRow): void {
  const problem =
    Number(server_version) < OLDEST_SERVER
      ? `the server is PostgreSQL ${Math.floor(Number(server_version) / 10_000)}; 12 or later is required`
      : server_encoding === "UTF8"
        ? undefined
        : `the database is encoded in ${server_encoding}, not in UTF8; create a database with ENCODING 'UTF8'`;
  if (problem === undefined) return;
  throw new TrawlError("STORE_UNREACHABLE", {
    op: "store.open",
    message: `store ${shown}: ${problem}`,
    detail: { store: shown },
  });
}

function checkedVersion({ shown }: PostgresUrl, version: number, known: number): number {
  if (version <= known) return version;
  throw new TrawlError("STORE_SCHEMA", {
    op: "store.open",
    message: `store ${shown}: its schema has version ${version}, this Trawl supports up to ${known}; upgrade Trawl, or set another store in TRAWL_STORE`,
    detail: { store: shown, version, known },
  });
}

function foreignSchema({ shown, schema }: PostgresUrl): TrawlError {
  return new TrawlError("STORE_UNREACHABLE", {
    op: "store.open",
    message: `store ${shown}: its schema ${schema} contains tables of another application; set another schema in TRAWL_STORE: ?schema=NAME`,
    detail: { store: shown, schema },
  });
}

type Names = "findFacts" | "findVersion" | "lock" | "mark" | "setVersion";

/** Reads the file on first use, because importing a module must have no effect. */
function readSqlOnce(): () => Record<Names, string> {
  let read: Record<Names, string> | undefined;
  return () => {
    read ??= readSql<Names>(new URL("./sql/migrate.sql", import.meta.url));
    return read;
  };
}
