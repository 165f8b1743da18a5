/** Reads settings and state of the PostgreSQL server for `trawl doctor`. */
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import { readSql } from "../../runtime/sqlite.ts";
import { openConnection } from "./connection.ts";
import { parsePostgresUrl } from "./connection-url.ts";

export type PostgresHealth = {
  version: string;
  /** Whether our user may write every table of the store. */
  canWrite: boolean;
  isStandby: boolean;
  fsync: boolean;
  connections: number;
  maxConnections: number;
};

/** Uses a connection of its own. The store must exist. Throws STORE_UNREACHABLE. */
export async function readPostgresHealth(
  url: string,
  deps: { clock: Clock; log: Log },
  options: { retryForMs: number },
): Promise<PostgresHealth> {
  const { health } = readSql<"health">(new URL("./sql/health.sql", import.meta.url));
  const connection = openConnection(parsePostgresUrl(url), deps, options);
  try {
    const [row = {}] = await connection.query("store.health", health, []);
    return {
      version: String(row.version),
      canWrite: row.can_write === true,
      isStandby: row.is_standby === true,
      fsync: row.fsync === "on",
      connections: Number(row.connections),
      maxConnections: Number(row.most_connections),
    };
  } finally {
    await connection.close();
  }
}
