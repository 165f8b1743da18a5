/**
 * An access log in a file, for an origin in another process. Every request is two JSON lines, written as they happen,
 * so that what is in the file is true even if the origin is killed in between.
 */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import type { Arrival } from "./origin.ts";

type Line = ({ event: "arrived" } & Arrival) | { event: "ended"; id: number; endedAt: number; status: number };

export type AccessLogWriter = {
  onArrival(arrival: Readonly<Arrival>): void;
  onEnd(arrival: Readonly<Arrival>): void;
  close(): void;
};

/** Appends to `file`; ids go on from what is there, so that several runs of an origin, one after another, share it. */
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

/** The requests of a file in order of arrival; those under way when it was read, or cut off, have no end. */
export function readAccessLog(file: string): Arrival[] {
  const arrivals: Arrival[] = [];
  // The last line may be half written while the origin is still at it.
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
