/** What an operator should know of the server that a store is on. */
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import { readSql } from "../../runtime/sqlite.ts";
import { openConnection } from "./connection.ts";
import { parsePostgresPlace } from "./place.ts";

export type PostgresFacts = {
  version: string;
  /** Whether our user may write every table of the store. */
  canWrite: boolean;
  isStandby: boolean;
  fsync: boolean;
  connections: number;
  mostConnections: number;
};

/** On a connection of its own; the store is there. Throws STORE_UNREACHABLE. */
export async function examinePostgres(
  url: string,
  deps: { clock: Clock; log: Log },
  options: { patienceMs: number },
): Promise<PostgresFacts> {
  const { examine } = readSql<"examine">(new URL("./sql/examine.sql", import.meta.url));
  const connection = openConnection(parsePostgresPlace(url), deps, options);
  try {
    const [row = {}] = await connection.ask("store.examine", examine, []);
    return {
      version: String(row.version),
      canWrite: row.can_write === true,
      isStandby: row.is_standby === true,
      fsync: row.fsync === "on",
      connections: Number(row.connections),
      mostConnections: Number(row.most_connections),
    };
  } finally {
    await connection.close();
  }
}
