/** Classifies the errors of a PostgreSQL store: which are temporary, and how to fix the others. */
import { TrawlError } from "../../errors.ts";
import type { PostgresUrl } from "./connection-url.ts";

/** Our own code: the connection is open, but no answer arrived in time. */
export const NO_ANSWER = "TRAWL_NO_ANSWER";

/** Temporary SQLSTATEs: shutdown, startup, no free connection, serialization failure, deadlock, read-only standby. */
const TEMPORARY = new Set(["57P01", "57P02", "57P03", "57P05", "53300", "40001", "40P01", "25006"]);

/** Error codes of Node and of the client library for lost connections. */
const CONNECTION_LOST = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN"],
  ...["CONNECTION_CLOSED", "CONNECTION_ENDED", "CONNECTION_DESTROYED", "CONNECT_TIMEOUT", NO_ANSWER],
]);

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused (ECONNREFUSED)",
  ENOTFOUND: "the host name does not exist (ENOTFOUND)",
  EAI_AGAIN: "the host name cannot be resolved (EAI_AGAIN)",
  CONNECT_TIMEOUT: "no connection within 5 s",
  CONNECTION_CLOSED: "the connection was closed before the answer arrived",
  CONNECTION_DESTROYED: "the connection was closed before the answer arrived",
  [NO_ANSWER]: "the server accepts connections but does not answer",
};

/** The fixes of permanent errors, by SQLSTATE, class of SQLSTATE, or Node error code. */
const FIXES: readonly (readonly [RegExp, string])[] = [
  [/^28/, "check the user and the password in TRAWL_STORE, and pg_hba.conf"],
  [/^3D000$/, "create the database: createdb, or CREATE DATABASE"],
  [
    /^42501$/,
    "run GRANT to give the user USAGE on the schema and all privileges on its tables and sequences; to let Trawl create the schema, also CREATE on the database",
  ],
  [/^(42P01|42883|3F000)$/, "tables were removed while Trawl was running: restart all processes that use this store"],
  [/^53100$/, "the disk of the server is full: free some space, then retry"],
  [/^(53|54|57014|58|F0|XX)/, "check the log of the server"],
  [
    /^(SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_|ERR_TLS)/,
    "check the server's certificate, and sslmode and ca in TRAWL_STORE",
  ],
];

/**
 * Whether the error is temporary, so that the call should be retried: the connection was lost, or the server could not
 * execute the call at the moment. If the connection was lost, the call may have been executed.
 */
export function isTemporary(error: unknown): boolean {
  const code = codeOf(error);
  return CONNECTION_LOST.has(code) || TEMPORARY.has(code) || code.startsWith("08");
}

/** Why there was no answer, for messages and logs. */
export function describeError(error: unknown): string {
  return DESCRIPTIONS[codeOf(error)] ?? (error as Error).message;
}

/** The error for a call that the server did not answer before its retries ended. */
export function storeUnreachable(
  { shown }: PostgresUrl,
  { op, lostMs, cause }: { op: string; lostMs: number; cause: unknown },
): TrawlError {
  return new TrawlError("STORE_UNREACHABLE", {
    op,
    message: `store ${shown} has not been reached for ${Math.round(lostMs / 1000)} s (${describeError(cause)}); check that the server is running and that TRAWL_STORE is correct, or raise TRAWL_STORE_RETRY_FOR`,
    detail: { store: shown, lostMs },
    cause,
  });
}

/**
 * Converts a permanent error: to STORE_UNREACHABLE with the fix if FIXES has an entry for its code. Otherwise returns
 * `cause` unchanged.
 */
export function toStoreError({ shown }: PostgresUrl, op: string, cause: unknown): unknown {
  const code = codeOf(cause);
  const [, fix] = FIXES.find(([pattern]) => pattern.test(code)) ?? [];
  if (cause instanceof TrawlError || fix === undefined) return cause;
  return new TrawlError("STORE_UNREACHABLE", {
    op,
    message: `store ${shown}: ${(cause as Error).message}; ${fix}`,
    detail: { store: shown, sqlState: code },
    cause,
  });
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? "");
}
