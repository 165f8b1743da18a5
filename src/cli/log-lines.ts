/** Writes log lines to stderr: as text on a terminal, otherwise as JSON lines. */
import { createLog } from "../runtime/log.ts";
import { showable } from "../runtime/showable.ts";
import type { Place } from "../worker/pool/supervisor.ts";
import type { Screen } from "./terminal.ts";

/** The fields of a JSON log line; undefined for other text. */
function fieldsOf(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined; // output of a spider that starts with a brace
  }
}

/** Formats a log line as `warn: browser.crashed pages=3`. Other text is returned unchanged. */
export function formatLogLine(text: string): string {
  const { at, level, event, ...fields } = fieldsOf(text) ?? {};
  if (at === undefined || typeof level !== "string" || typeof event !== "string") return text;
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${formatValue(value)}`);
  return [`${level}: ${event}`, ...pairs].join(" ");
}

function formatValue(value: unknown): string {
  return typeof value === "string" && !/[\s="]/.test(value) ? value : JSON.stringify(value);
}

/** Returns the function that writes the log of this process. */
export function logTo(screen: Screen, isJson: boolean): (line: string) => void {
  return screen.isLive && !isJson ? (line) => screen.err(`${formatLogLine(line.trimEnd())}\n`) : screen.err;
}

/**
 * Returns the function that writes output lines of worker processes. With --json, output of a spider is also written as
 * JSON.
 */
export function linesTo(screen: Screen, isJson: boolean): (place: Place, text: string) => void {
  if (!isJson) return (_place, text) => screen.err(`${screen.isLive ? formatLogLine(text) : text}\n`);
  const log = createLog("info", screen.err);
  return ({ group, nth }, text) => {
    const fields = fieldsOf(text);
    const origin = { ...(group === undefined ? {} : { group }), process: nth };
    if (fields === undefined) log.info("worker.output", { ...origin, text });
    else screen.err(`${showable(JSON.stringify({ ...fields, ...origin }))}\n`);
  };
}
