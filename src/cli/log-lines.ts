/** Log lines on their way to stderr: as they are for a machine, in words for a person at a terminal. */
import { createLog } from "../runtime/log.ts";
import { showable } from "../runtime/showable.ts";
import type { Place } from "../worker/pool/supervisor.ts";
import type { Screen } from "./terminal.ts";

/** Of a log line; undefined if it is none. */
export function fieldsOf(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined; // a spider has printed something that begins like one
  }
}

/** `warn: browser.crashed pages=3`; what is no log line stays as it is. */
export function inWords(text: string): string {
  const { at, level, event, ...fields } = fieldsOf(text) ?? {};
  if (at === undefined || typeof level !== "string" || typeof event !== "string") return text;
  const words = Object.entries(fields).map(([name, value]) => `${name}=${inWord(value)}`);
  return [`${level}: ${event}`, ...words].join(" ");
}

function inWord(value: unknown): string {
  return typeof value === "string" && !/[\s="]/.test(value) ? value : JSON.stringify(value);
}

/** Where this process's own log goes. */
export function logTo(screen: Screen, isJson: boolean): (line: string) => void {
  return screen.isLive && !isJson ? (line) => screen.err(`${inWords(line.trimEnd())}\n`) : screen.err;
}

/** Where the lines go that worker processes print: with --json each is one object, whatever a spider prints. */
export function linesTo(screen: Screen, isJson: boolean): (place: Place, text: string) => void {
  if (!isJson) return (_place, text) => screen.err(`${screen.isLive ? inWords(text) : text}\n`);
  const log = createLog("info", screen.err);
  return ({ group, nth }, text) => {
    const fields = fieldsOf(text);
    const whose = { ...(group === undefined ? {} : { group }), process: nth };
    if (fields === undefined) log.info("worker.said", { ...whose, text });
    else screen.err(`${showable(JSON.stringify({ ...fields, ...whose }))}\n`);
  };
}
