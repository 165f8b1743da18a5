/** Fetched where they are missing. */
export type ServerName = "redis-server" | "valkey-server" | "swift";

/** Chromium comes from the system only: what it is linked with is half a desktop. */
export type ProgramName = Exclude<ServerName, "swift"> | "chromium" | "chromium-headless-shell";

/** How to run a program, the machine's own or ours; undefined if there is none. */
export function findProgram(name: ProgramName): { command: string; env: Record<string, string> } | undefined;

/** Fetches what is not there yet. Returns the programs that cannot be had, each with the reason. */
export function ensurePrograms(
  names?: readonly (ServerName | "postgresql")[],
): { name: ServerName | "postgresql"; because: string }[];

/** The programs of PostgreSQL: `bin` has postgres and initdb. `root`: where our own copy was unpacked. */
export type Program = { bin: string; env: Record<string, string>; root?: string | undefined };

/** The machine's own PostgreSQL, the newest, or ours; undefined if there is none. */
export function findPostgres(): Program | undefined;

/** How to run Python with the modules of Swift; undefined if it cannot be run. */
export function findSwift(): { command: string; words: string[]; env: Record<string, string> } | undefined;
