/** Stores on a real PostgreSQL for tests: each in a schema of its own on one server. */
import { randomBytes } from "node:crypto";
import { openPostgresStore } from "../../../src/store/postgres/open-postgres-store.ts";
import type { ControlStores, Store } from "../../../src/store/store.ts";
import type { PostgresServer } from "../../services/postgres.ts";
import type { StoreSite } from "./describe-store.ts";
import { SILENT_DEPS } from "./silent-deps.ts";

export type PostgresSite = StoreSite & { url: string; schema: string; open(): Promise<Store & ControlStores> };

/** An empty place on a server that runs. */
export function preparePostgres(server: PostgresServer): PostgresSite {
  const schema = `t_${randomBytes(6).toString("hex")}`;
  const url = `${server.url}?schema=${schema}`;
  const talk = (words: string) => inDatabase(server, words);
  return {
    url,
    schema,
    open: () => openPostgresStore(url, SILENT_DEPS, { patienceMs: 30_000 }),
    raiseSchema: () => talk(`UPDATE ${schema}.trawl_store SET version = 999`),
    remove: () => talk(`DROP SCHEMA IF EXISTS ${schema} CASCADE`),
  };
}

export async function inDatabase(server: PostgresServer, words: string): Promise<void> {
  await server.talk((sql) => sql.unsafe(words));
}
