/** Runs many rounds, several at a time. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Round, runKillRound } from "./kill-round.ts";

export type RoundsOptions = {
  rounds: number;
  parallel: number;
  pages: number;
  /** Seed of the first round; each further round uses the next number. */
  seed: number;
  main: string;
  /** Called after each round. The folder of a round with problems is kept. */
  onRound(round: Round, folder: string): void;
};

export async function runRounds({ rounds, parallel, pages, seed, main, onRound }: RoundsOptions): Promise<Round[]> {
  const finished: Round[] = [];
  let next = seed;
  async function work(): Promise<void> {
    while (next < seed + rounds) {
      const folder = mkdtempSync(join(tmpdir(), "trawl-chaos-"));
      const round = await runKillRound({ seed: next++, pages, folder, main });
      finished.push(round);
      onRound(round, folder);
      if (round.problems.length === 0) rmSync(folder, { recursive: true, force: true });
    }
  }
  await Promise.all(Array.from({ length: Math.min(parallel, rounds) }, work));
  return finished.sort((one, other) => one.seed - other.seed);
}

/** A row of the summary table. */
export function roundRow({
  seed,
  kills,
  plan,
  requests,
  repeated,
  excessMs,
  loggedExcessMs,
  maxAtOnce,
  seconds,
  problems,
}: Round) {
  const moments = plan.map(({ after, ms }) => `${after === "finish" ? "end+" : ""}${ms}`).join(" ");
  return {
    seed,
    kills,
    "kill at, ms": moments,
    requests,
    repeated,
    "excess, ms": Number(excessMs.toFixed(2)),
    "as logged": Number(loggedExcessMs.toFixed(2)),
    "most at once": maxAtOnce,
    seconds: Number(seconds.toFixed(1)),
    verdict: problems.length === 0 ? "ok" : problems.join("; "),
  };
}
