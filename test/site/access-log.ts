/**
 * An access log in a file, for an origin in another process. Every request is two JSON lines, written as they happen,
 * so the file is correct even if the origin is killed.
 */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import type { Arrival } from "./origin.ts";

type Line = ({ event: "arrived" } & Arrival) | { event: "ended"; id: number; endedAt: number; status: number };

export type AccessLogWriter = {
  onArrival(arrival: Readonly<Arrival>): void;
  onEnd(arrival: Readonly<Arrival>): void;
  close(): void;
};

/** Appends to `file`. Ids continue after those in the file, so that consecutive runs of an origin can share it. */
export function createAccessLogWriter(file: string): AccessLogWriter {
  const descriptor = openSync(file, "a");
  const firstId = readAccessLog(file).length;
  const write = (line: Line) => writeSync(descriptor, `${JSON.stringify(line)}\n`);
  return {
    onArrival: (arrival) => write({ event: "arrived", ...arrival, id: firstId + arrival.id }),
    onEnd: ({ id, endedAt = 0, status }) => write({ event: "ended", id: firstId + id, endedAt, status }),
    close: () => closeSync(descriptor),
  };
}

/** The requests of a file in order of arrival. Running and aborted requests have no end. */
export function readAccessLog(file: string): Arrival[] {
  const arrivals: Arrival[] = [];
  // The last line may be incomplete while the origin writes.
  const whole = readFileSync(file, "utf8").split("\n").slice(0, -1);
  for (const text of whole) {
    const line = JSON.parse(text) as Line;
    if (line.event === "arrived") {
      const { event: _, ...arrival } = line;
      arrivals[line.id] = { ...arrival, endedAt: undefined };
    } else {
      const arrival = arrivals[line.id];
      if (arrival !== undefined) Object.assign(arrival, { endedAt: line.endedAt, status: line.status });
    }
  }
  return arrivals;
}
