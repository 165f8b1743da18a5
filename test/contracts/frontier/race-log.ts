/** The log of each process of a race, written line by line, so that a kill -9 loses none of it. */
import { readFileSync } from "node:fs";

export type RaceLine =
  /** A task was started. */
  | { kind: "granted"; at: number; worker: string; taskId: string; token: number; url: string; site: string }
  /** A request was sent. */
  | { kind: "sent"; at: number; worker: string; taskId: string; token: number; site: string }
  /** Logged right before the call that ends the lease. */
  | { kind: "ending"; at: number; taskId: string; token: number }
  | { kind: "settled"; taskId: string; token: number; url: string; verdict: "settled" | "stale" }
  | { kind: "finished"; worker: string; jobId: string };

/** All complete lines; the last one may be partly written. */
export function readRaceLog(paths: readonly string[]): RaceLine[] {
  return paths.flatMap((path) =>
    readFileSync(path, "utf8")
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as RaceLine),
  );
}

export function linesOf<Kind extends RaceLine["kind"]>(
  lines: readonly RaceLine[],
  kind: Kind,
): (RaceLine & { kind: Kind })[] {
  return lines.filter((line): line is RaceLine & { kind: Kind } => line.kind === kind);
}
