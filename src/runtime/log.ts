import { createRedact } from "./redact.ts";
import { showable } from "./showable.ts";

export type LogFields = Record<string, unknown>;

/** A structured log: an event name with dots, and fields. Secrets are masked, but should not be passed. */
export type Log = {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  /** The same log, with these fields in every line. */
  child(fields: LogFields): Log;
  /** Whether lines of this level are written. Check it before building expensive fields. */
  isOn(level: (typeof LEVELS)[number]): boolean;
};

const LEVELS = ["debug", "info", "warn", "error"] as const;
type LogLevel = (typeof LEVELS)[number] | "silent";

/** Writes one JSON object per line, at `level` and above. `secrets` are masked wherever they occur. */
export function createLog(level: LogLevel, write: (line: string) => void, secrets: readonly string[] = []): Log {
  const lowest = level === "silent" ? LEVELS.length : LEVELS.indexOf(level);
  const redact = createRedact(secrets);

  function withFields(bound: LogFields): Log {
    const emit = (rank: number) => (event: string, fields?: LogFields) => {
      if (rank < lowest) return;
      const safe = redact.value({ ...bound, ...fields }) as LogFields;
      const line = { at: new Date().toISOString(), level: LEVELS[rank], event, ...safe };
      write(`${showable(JSON.stringify(line, rounded))}\n`);
    };
    return {
      debug: emit(0),
      info: emit(1),
      warn: emit(2),
      error: emit(3),
      child: (fields) => withFields({ ...bound, ...fields }),
      isOn: (wanted) => LEVELS.indexOf(wanted) >= lowest,
    };
  }

  return withFields({});
}

/** A replacer for JSON.stringify: rounds times to whole milliseconds and other numbers to three decimals. */
export function rounded(name: string, value: unknown): unknown {
  if (typeof value !== "number" || Number.isInteger(value)) return value;
  return /(?:At|Ms|^at)$/.test(name) ? Math.round(value) : Number(value.toFixed(3));
}
