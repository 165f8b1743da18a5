/**
 * A crawl that is killed with SIGKILL and resumed loses no page, writes no record twice and never exceeds its rate.
 * `npm run chaos` runs more rounds.
 */
import { describe, expect, it } from "vitest";
import { MAIN } from "../e2e/dist.ts";
import { roundRow, runRounds } from "./rounds.ts";

const ROUNDS = Number(process.env.TRAWL_CHAOS_ROUNDS ?? 4);
const SEED = Number(process.env.TRAWL_SEED ?? 1 + Math.floor(Math.random() * 1e6));
const PAGES = 2000;
const ROUND_TIMEOUT_MS = 180_000;

describe("kill and resume", () => {
  it(`loses nothing and stays polite in ${ROUNDS} rounds from seed ${SEED}`, {
    timeout: ROUNDS * ROUND_TIMEOUT_MS,
  }, async () => {
    const rounds = await runRounds({
      rounds: ROUNDS,
      parallel: 2,
      pages: PAGES,
      seed: SEED,
      main: MAIN,
      onRound: (round, folder) => {
        if (round.problems.length > 0) console.warn(`the files of seed ${round.seed} are in ${folder}`);
      },
    });

    console.log(rounds.map((round) => JSON.stringify(roundRow(round))).join("\n"));
    expect(rounds.map(({ seed, problems }) => ({ seed, problems }))).toEqual(
      rounds.map(({ seed }) => ({ seed, problems: [] })),
    );
    expect(rounds).toHaveLength(ROUNDS);
    expect(rounds.every(({ kills }) => kills > 0)).toBe(true);
  });
});
