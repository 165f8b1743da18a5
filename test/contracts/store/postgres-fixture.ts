/** Stores on a real PostgreSQL for tests, each in its own schema on one server. */
import { randomBytes } from "node:crypto";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.ts";
import type { ControlStores, Store } from "../../../src/store/store.ts";
import type { PostgresServer } from "../../services/postgres.ts";
import type { StoreFixture } from "./describe-store.ts";
import { STORE_DEPS } from "./store-deps.ts";

export type PostgresFixture = StoreFixture & { url: string; schema: string; open(): Promise<Store & ControlStores> };

/** A new store on a running server. Its schema does not exist until it is opened. */
export function preparePostgres(server: PostgresServer): PostgresFixture {
  const schema = `t_${randomBytes(6).toString("hex")}`;
  const url = `${server.url}?schema=${schema}`;
  const run = (statement: string) => inDatabase(server, statement);
  return {
    url,
    schema,
    open: () => openPostgresStore(url, STORE_DEPS, { retryForMs: 30_000 }),
    raiseSchema: () => run(`UPDATE ${schema}.trawl_store SET version = 999`),
    remove: () => run(`DROP SCHEMA IF EXISTS ${schema} CASCADE`),
  };
}

export async function inDatabase(server: PostgresServer, statement: string): Promise<void> {
  await server.query((sql) => sql.unsafe(statement));
}
