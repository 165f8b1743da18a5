/**
 * Brings a schema of a database to what this binary knows: numbered `.sql` files, run in order, never changed later.
 * Called by every process that opens a store: the steps run in one transaction under a lock, so of several processes one
 * does them and the rest find them done; a crash leaves all or none.
 */
import { readdirSync, readFileSync } from "node:fs";
import { TrawlError } from "../../errors.ts";
import { readSql } from "../../runtime/sqlite.ts";
import type { Transaction } from "./connect.ts";
import type { Connection, PostgresRow } from "./connection.ts";
import type { PostgresPlace } from "./place.ts";

const FOLDER = new URL("./migrations/", import.meta.url);
const SQL = readSqlOnce();

/** Changes to large tables take their time. */
const MIGRATE_MS = 30 * 60_000;

/** What `starts_with`, generated numbers and procedures without surprises need. */
const OLDEST_SERVER = 120_000;

/** Refuses a schema that holds something else, one that a newer Trawl has written, and servers that would not do. */
export async function migrate(connection: Connection, place: PostgresPlace): Promise<void> {
  const sql = SQL();
  const steps = readdirSync(FOLDER)
    .filter((name) => name.endsWith(".sql"))
    .sort();
  const [facts = {}] = await connection.ask("store.open", sql.findFacts, [place.schema]);
  checkServer(place, facts);
  // The usual case, without the lock.
  if (facts.is_ours === true) {
    const [{ version } = {}] = await connection.ask("store.open", sql.findVersion, []);
    if (checkedVersion(place, Number(version), steps.length) === steps.length) return;
  }
  await connection.transact("store.open", (transaction) => climb(transaction, place, steps), MIGRATE_MS);
}

async function climb(transaction: Transaction, place: PostgresPlace, steps: readonly string[]): Promise<void> {
  const sql = SQL();
  await transaction.unsafe(sql.lock, [place.schema]);
  // Another process may have done it since.
  const [facts = {}] = (await transaction.unsafe(sql.findFacts, [place.schema])) as PostgresRow[];
  if (facts.is_ours !== true) {
    if (Number(facts.others) > 0) throw holdsOthers(place);
    // Its name was checked to need no quotes; PostgreSQL takes no parameter there.
    if (facts.has_schema !== true) await transaction.unsafe(`CREATE SCHEMA ${place.schema}`);
    await transaction.unsafe(sql.mark);
  }
  const [{ version } = {}] = (await transaction.unsafe(sql.findVersion)) as PostgresRow[];
  const known = checkedVersion(place, Number(version), steps.length);
  for (const name of steps.slice(known)) await transaction.unsafe(readFileSync(new URL(name, FOLDER), "utf8"));
  await transaction.unsafe(sql.keepVersion, [steps.length]);
}

function checkServer({ shown }: PostgresPlace, { server_version, server_encoding }: PostgresRow): void {
  const problem =
    Number(server_version) < OLDEST_SERVER
      ? `the server is PostgreSQL ${Math.floor(Number(server_version) / 10_000)}; 12 or later is needed`
      : server_encoding === "UTF8"
        ? undefined
        : `the database is encoded in ${server_encoding}, which cannot hold every page; make one with ENCODING 'UTF8'`;
  if (problem === undefined) return;
  throw new TrawlError("STORE_UNREACHABLE", {
    op: "store.open",
    message: `store ${shown}: ${problem}`,
    detail: { store: shown },
  });
}

function checkedVersion({ shown }: PostgresPlace, version: number, known: number): number {
  if (version <= known) return version;
  throw new TrawlError("STORE_SCHEMA", {
    op: "store.open",
    message: `store ${shown}: its schema is version ${version}, this Trawl knows up to ${known}; upgrade Trawl, or name another store in TRAWL_STORE`,
    detail: { store: shown, version, known },
  });
}

function holdsOthers({ shown, schema }: PostgresPlace): TrawlError {
  return new TrawlError("STORE_UNREACHABLE", {
    op: "store.open",
    message: `store ${shown}: its schema ${schema} holds tables of something else; name a schema of its own in TRAWL_STORE: ?schema=NAME`,
    detail: { store: shown, schema },
  });
}

type Names = "findFacts" | "findVersion" | "lock" | "mark" | "keepVersion";

/** Importing a module does nothing: read when first needed. */
function readSqlOnce(): () => Record<Names, string> {
  let read: Record<Names, string> | undefined;
  return () => {
    read ??= readSql<Names>(new URL("./sql/migrate.sql", import.meta.url));
    return read;
  };
}
