/**
 * The access log of all sites of a fleet's web, kept by the one process that serves them. Two JSON lines a request,
 * written as they happen.
 */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import type { Sighting } from "../lookout.ts";

/** One request as its site saw it. Instants are epoch ms with fractions. */
export type Visit = Sighting & {
  /** `host:port` it was sent to. */
  site: string;
  path: string;
  /** Which worker process sent it, by its user agent. */
  worker: string;
  /** The address it came from. */
  from: string;
  /** When it was over for certain, at the latest; undefined: never. */
  endedAt: number | undefined;
  /** When it may have been over: earlier than `endedAt` where the client went away, which the site may notice late. */
  overFrom: number | undefined;
  /** 0: the client went away unanswered. */
  status: number;
};

export type VisitStart = Omit<Visit, "endedAt" | "overFrom" | "status">;
export type VisitEnd = { endedAt: number; overFrom: number; status: number };

export type FleetLogWriter = {
  /** Notes a request, and returns where to note its end. */
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
