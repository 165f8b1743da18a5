/** Creates the connection pool. The only file that imports the client library. */
import postgres from "postgres";
import { readTlsFile } from "../../runtime/service-url.ts";
import type { PostgresUrl } from "./connection-url.ts";

export type Pool = postgres.Sql;
export type Transaction = postgres.TransactionSql;

/** Maximum for one process. The pool opens a connection when all others are busy, and closes it when idle. */
const MAX_CONNECTIONS = 4;
const IDLE_S = 20;
/** A server that has not accepted a connection within this time counts as lost. */
const CONNECT_TIMEOUT_S = 5;

/**
 * Forces index lookups. Plans are cached for the lifetime of a connection. A plan made while the tables were small
 * would otherwise keep scanning them sequentially after they have grown.
 */
const INDEX_ONLY_PLANS = {
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
};

/** Connects on first use. Throws BAD_CONFIG if a TLS file of the URL is missing. */
export function connect(url: PostgresUrl): Pool {
  return postgres({
    // Lists, although the types of the library do not allow them: the library splits a single string at its colons, and
    // an IPv6 address contains colons.
    host: [url.host] as unknown as string,
    port: [url.port] as unknown as number,
    database: url.database,
    ...(url.username === "" ? {} : { user: url.username }),
    ...(url.password === "" ? {} : { password: url.password }),
    ssl: sslOptions(url),
    max: MAX_CONNECTIONS,
    idle_timeout: IDLE_S,
    connect_timeout: CONNECT_TIMEOUT_S,
    // connection.ts retries with its own delay.
    backoff: () => 0,
    // We encode arrays ourselves and read them as text, so the library need not query the types of every server.
    fetch_types: false,
    connection: {
      application_name: "trawl",
      search_path: url.schema,
      // A statement that waited for a lock must see the writes of the previous holder. The default isolation level of
      // the database may be another one.
      default_transaction_isolation: "read committed",
      ...INDEX_ONLY_PLANS,
    },
    // By default, the library prints notices.
    onnotice: () => undefined,
  });
}

function sslOptions({ sslmode, tls, host }: PostgresUrl): boolean | "prefer" | object {
  if (sslmode === "disable") return false;
  const paths = Object.entries(tls).filter(([, path]) => path !== "");
  // In the library, "prefer" means: no certificate check, and plain text if the server has no TLS.
  if (sslmode === "prefer" && paths.length === 0) return "prefer";
  const files = Object.fromEntries(
    paths.map(([name, path]) => [name, readTlsFile(name, path, { op: "store.open", setting: "TRAWL_STORE" })]),
  );
  return { ...files, host, rejectUnauthorized: sslmode === "verify-full" };
}
