/** Opens connections to a place, and knows what their errors mean. The only file that names the client library. */
import postgres from "postgres";
import { readTlsFile } from "../../runtime/service-url.ts";
import type { PostgresPlace } from "./place.ts";

export type Pool = postgres.Sql;
export type Transaction = postgres.TransactionSql;

/** Of one process. Mostly one is in use: they are opened when all others are busy, and closed when idle. */
const CONNECTIONS_MOST = 4;
const IDLE_S = 20;
/** A server that has not let us in after this is taken for lost. */
const CONTACT_S = 5;

/**
 * Every statement of ours is to look up by index what it wants. Plans are kept for as long as a connection is, and one
 * that was made while the tables were small would read them from end to end ever after.
 */
const LOOK_UP = { enable_seqscan: "off", enable_bitmapscan: "off", enable_hashjoin: "off", enable_mergejoin: "off" };

/** Connects when first asked. Throws BAD_CONFIG if a file of the place is missing. */
export function connect(place: PostgresPlace): Pool {
  return postgres({
    // As lists, which its types do not know of: a single host is cut at its colons, and IPv6 has many.
    host: [place.host] as unknown as string,
    port: [place.port] as unknown as number,
    database: place.database,
    ...(place.username === "" ? {} : { user: place.username }),
    ...(place.password === "" ? {} : { password: place.password }),
    ssl: sslOf(place),
    max: CONNECTIONS_MOST,
    idle_timeout: IDLE_S,
    connect_timeout: CONTACT_S,
    // Whoever waits for an answer tries again by a rhythm of its own.
    backoff: () => 0,
    // Arrays are written by us, and come back as text: no need to ask every server for its types.
    fetch_types: false,
    connection: {
      application_name: "trawl",
      search_path: place.schema,
      // What follows a lock must see what its last holder did, whatever the database is set to.
      default_transaction_isolation: "read committed",
      ...LOOK_UP,
    },
    // It would print them.
    onnotice: () => undefined,
  });
}

function sslOf({ sslmode, tls, host }: PostgresPlace): boolean | "prefer" | object {
  if (sslmode === "disable") return false;
  const named = Object.entries(tls).filter(([, path]) => path !== "");
  // The library's word for it: without a certificate to be looked at, and in the clear where the server has no TLS.
  if (sslmode === "prefer" && named.length === 0) return "prefer";
  const files = Object.fromEntries(
    named.map(([name, path]) => [name, readTlsFile(name, path, { op: "store.open", setting: "TRAWL_STORE" })]),
  );
  return { ...files, host, rejectUnauthorized: sslmode === "verify-full" };
}
