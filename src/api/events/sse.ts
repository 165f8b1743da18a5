/** Server-sent events, as text. */
import { hash } from "node:crypto";

export const EVENT_STREAM = "text/event-stream";

/** How soon a browser comes back where the stream broke off. */
export const HELLO = "retry: 2000\n\n";
/** Keeps what is between from taking the silence for an end. */
export const HEARTBEAT = ": still here\n\n";
export const HEARTBEAT_MS = 15_000;

/** Without an id, the last one stands. */
export function eventText(name: string, value: unknown, id?: string): string {
  // JSON has no line breaks of its own.
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(value)}\n\n`;
}

/** A name for a state that is the same wherever it is seen. */
export function digest(state: unknown): string {
  return hash("sha256", JSON.stringify(state), "base64url").slice(0, 16);
}
