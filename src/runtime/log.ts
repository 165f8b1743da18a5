import { showable } from "./showable.ts";

export type LogFields = Record<string, unknown>;

/** Structured log lines: an event name with dots, then fields. Secrets never go in. */
export type Log = {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
};

const LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LEVELS)[number] | "silent";

/** Writes one JSON object per line, at `level` and above. */
export function createLog(level: LogLevel, write: (line: string) => void): Log {
  const lowest = level === "silent" ? LEVELS.length : LEVELS.indexOf(level);
  const emit = (rank: number) => (event: string, fields?: LogFields) => {
    if (rank < lowest) return;
    const line = { at: new Date().toISOString(), level: LEVELS[rank], event, ...plain(fields) };
    write(`${showable(JSON.stringify(line))}\n`);
  };
  return { debug: emit(0), info: emit(1), warn: emit(2), error: emit(3) };
}

/** Errors stringify to `{}`: name what matters of them instead. */
function plain(fields: LogFields | undefined): LogFields {
  if (fields === undefined) return {};
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, value instanceof Error ? value.message : value]),
  );
}
