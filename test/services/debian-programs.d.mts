/** Programs that are fetched if they are missing. */
export type ServerName = "redis-server" | "valkey-server" | "swift";

/** Chromium is never fetched: it needs too many libraries of a desktop. */
export type ProgramName = Exclude<ServerName, "swift"> | "chromium" | "chromium-headless-shell";

/** How to run a program, installed or fetched; undefined if there is none. */
export function findProgram(name: ProgramName): { command: string; env: Record<string, string> } | undefined;

/** Fetches missing programs. Returns those that could not be fetched, each with the reason. */
export function ensurePrograms(
  names?: readonly (ServerName | "postgresql")[],
): { name: ServerName | "postgresql"; because: string }[];

/** The programs of PostgreSQL: `bin` has postgres and initdb. `root` is the folder of a fetched copy. */
export type Program = { bin: string; env: Record<string, string>; root?: string | undefined };

/** The newest installed PostgreSQL, or the fetched one; undefined if there is none. */
export function findPostgres(): Program | undefined;

/** How to run Python with the modules of Swift; undefined if it cannot be run. */
export function findSwift(): { command: string; args: string[]; env: Record<string, string> } | undefined;
