/** Server-sent events as text. */
import { hash } from "node:crypto";
import type { Subscription } from "./shared-poller.ts";

export const EVENT_STREAM = "text/event-stream";

/** The first text of a stream. It makes a browser reconnect 2000 ms after the connection breaks. */
export const HELLO = "retry: 2000\n\n";
/** A comment line that prevents proxies from closing a connection without traffic. */
export const HEARTBEAT = ": still here\n\n";
const HEARTBEAT_MS = 15_000;

/** The text of an event. Without an id, the client keeps the id of the last event that had one. */
export function eventText(name: string, value: unknown, id?: string): string {
  // One `data` line is enough, because JSON.stringify writes no line breaks.
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(value)}\n\n`;
}

/** A short hash of a state. Equal states have equal digests on every server. */
export function digest(state: unknown): string {
  return hash("sha256", JSON.stringify(state), "base64url").slice(0, 16);
}

/** Yields the newest value after each poll, and "heartbeat" when one is due. */
export async function* withHeartbeats<T>(
  subscription: Subscription<T>,
  signal: AbortSignal,
): AsyncGenerator<T | "heartbeat"> {
  let version = 0;
  let lastAt = performance.now();
  while (!signal.aborted) {
    const polled = await subscription.next(version, HEARTBEAT_MS, signal);
    if (signal.aborted) return;
    version = polled?.version ?? version;
    if (polled !== undefined) yield polled.value;
    // The caller sends nothing for a value that has not changed, so a heartbeat may be due even after a poll.
    if (performance.now() - lastAt < HEARTBEAT_MS) continue;
    lastAt = performance.now();
    yield "heartbeat";
  }
}
