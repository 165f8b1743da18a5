/** What goes wrong with a PostgreSQL store: which of it passes by itself, and words for whoever has to mend the rest. */
import { TrawlError } from "../../errors.ts";
import type { PostgresPlace } from "./place.ts";

/** No answer came: the connection is there, and the server or the way to it is not. */
export const SILENT = "TRAWL_SILENT";

/** Of the server: it shuts down, starts, has no connection free, chose us to end a deadlock, or is not the master now. */
const PASSING = new Set(["57P01", "57P02", "57P03", "57P05", "53300", "40001", "40P01", "25006"]);

/** Of Node and the client library. */
const BROKEN = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN"],
  ...["CONNECTION_CLOSED", "CONNECTION_ENDED", "CONNECTION_DESTROYED", "CONNECT_TIMEOUT", SILENT],
]);

const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nobody listens there (ECONNREFUSED)",
  ENOTFOUND: "the name of the host leads nowhere (ENOTFOUND)",
  EAI_AGAIN: "the name of the host cannot be looked up (EAI_AGAIN)",
  CONNECT_TIMEOUT: "the server did not let us in within 5 s",
  CONNECTION_CLOSED: "the connection broke before the answer came",
  CONNECTION_DESTROYED: "the connection broke before the answer came",
  [SILENT]: "the server takes connections and does not answer",
};

/** Answers that no waiting will change, by their SQLSTATE or its first two characters. */
const FIXES: readonly (readonly [RegExp, string])[] = [
  [/^28/, "check the user and the password in TRAWL_STORE, and pg_hba.conf"],
  [/^3D000$/, "make the database: createdb, or CREATE DATABASE"],
  [
    /^42501$/,
    "give its user the right: GRANT CREATE ON DATABASE for the first start, and USAGE and all rights on its schema",
  ],
  [/^(42P01|42883|3F000)$/, "its tables were removed under a running Trawl: restart what runs on it"],
  [/^53100$/, "the disk of the server is full: free some space, then go on where you were"],
  [/^(53|54|57014|58|F0|XX)/, "look at the log of the server"],
  [
    /^(SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_|ERR_TLS)/,
    "check the server's certificate, and sslmode and ca in TRAWL_STORE",
  ],
];

/** Whether a call that failed like this may have been made all the same, and is worth making again. */
export function isLostContact(error: unknown): boolean {
  const code = codeOf(error);
  return BROKEN.has(code) || PASSING.has(code) || code.startsWith("08");
}

/** Why there was no answer. */
export function troubleWords(error: unknown): string {
  return MEANINGS[codeOf(error)] ?? (error as Error).message;
}

export type Lost = { op: string; lostMs: number; cause: unknown };

/** No call has been answered for as long as was to be waited. */
export function unreachable({ shown }: PostgresPlace, { op, lostMs, cause }: Lost): TrawlError {
  return new TrawlError("STORE_UNREACHABLE", {
    op,
    message: `store ${shown} has not been reached for ${Math.round(lostMs / 1000)} s (${troubleWords(cause)}); check that it runs and TRAWL_STORE, or raise TRAWL_STORE_PATIENCE`,
    detail: { store: shown, lostMs },
    cause,
  });
}

/** An answer that no waiting will change: coded where it is the server's doing, bugs of ours as they are. */
export function coded({ shown }: PostgresPlace, op: string, cause: unknown): unknown {
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
