export type ProgramName = "redis-server" | "valkey-server";

/** How to run a program, the machine's own or ours; undefined if there is none. */
export function findProgram(name: ProgramName): { command: string; env: Record<string, string> } | undefined;

/** Fetches what is not there yet. Returns the programs that cannot be had, each with the reason. */
export function ensurePrograms(names?: readonly ProgramName[]): { name: ProgramName; because: string }[];
