/**
 * The access log of all sites. The process that serves them writes two JSON lines per request: at its start and at its
 * end.
 */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import type { TimedArrival } from "../rate-excess.ts";

/** One request as its site recorded it. Instants are epoch ms with fractions. */
export type Visit = TimedArrival & {
  /** `host:port` of the site. */
  site: string;
  path: string;
  /** The worker process that sent the request, from its user agent. */
  worker: string;
  /** The address of the sender. */
  from: string;
  /** The latest time at which the request may have ended; undefined if it did not end. */
  endedAt: number | undefined;
  /** The earliest time at which the request may have ended: the site may notice a disconnect late. */
  overFrom: number | undefined;
  /** 0 if the client disconnected before the response. */
  status: number;
};

export type VisitStart = Omit<Visit, "endedAt" | "overFrom" | "status">;
export type VisitEnd = { endedAt: number; overFrom: number; status: number };

export type FleetLogWriter = {
  /** Logs a request, and returns the function that logs its end. */
  onArrival(start: VisitStart): (end: VisitEnd) => void;
  count(): number;
  close(): void;
};

type Line = ({ event: "arrived"; id: number } & VisitStart) | ({ event: "ended"; id: number } & VisitEnd);

export function createFleetLogWriter(file: string): FleetLogWriter {
  const descriptor = openSync(file, "w");
  const write = (line: Line) => writeSync(descriptor, `${JSON.stringify(line)}\n`);
  let count = 0;
  return {
    onArrival(start) {
      const id = count++;
      write({ event: "arrived", id, ...start });
      return (end) => void write({ event: "ended", id, ...end });
    },
    count: () => count,
    close: () => closeSync(descriptor),
  };
}

/** All requests, in order of arrival. */
export function readFleetLog(file: string): Visit[] {
  const visits: Visit[] = [];
  for (const text of readFileSync(file, "utf8").split("\n").slice(0, -1)) {
    const { event, id, ...line } = JSON.parse(text) as Line;
    if (event === "arrived")
      visits[id] = { ...(line as VisitStart), endedAt: undefined, overFrom: undefined, status: 0 };
    else Object.assign(visits[id] ?? {}, line);
  }
  return visits;
}
