#!/usr/bin/env node
// `npm run chaos -- --rounds 50 --parallel 3`: crawls that are killed at random moments and gone on with, many times.
import { parseArgs } from "node:util";
import { createJiti } from "jiti";
import { MAIN } from "./dist.mjs";
import { ensureReady } from "./ensure.mjs";

const USAGE = `Usage: node scripts/chaos.mjs [options]
  --rounds N     how many crawls (50)
  --parallel N   how many at a time (3)
  --pages N      pages of each site (2000)
  --seed N       of the first round; each further one has the next (random)`;

process.exitCode = await main();

async function main() {
  let options;
  try {
    options = readOptions();
  } catch (cause) {
    console.error(`${cause.message}\n\n${USAGE}`);
    return 2;
  }
  await ensureReady();
  const { runRounds, roundRow } = await createJiti(import.meta.url).import("../test/chaos/rounds.ts");
  console.log(
    `${options.rounds} rounds, ${options.parallel} at a time, ${options.pages} pages, --seed ${options.seed}`,
  );
  const rounds = await runRounds({
    ...options,
    main: MAIN,
    onRound: ({ seed, kills, problems }, folder) => {
      const words = problems.length === 0 ? "ok" : `${problems.join("; ")} (left in ${folder})`;
      console.log(`seed ${seed}: ${kills} kills, ${words}`);
    },
  });
  console.table(rounds.map(roundRow));
  return sumUp(rounds);
}

function readOptions() {
  const text = { type: "string" };
  const { values } = parseArgs({ options: { rounds: text, parallel: text, pages: text, seed: text } });
  return {
    rounds: wholeNumber("rounds", values.rounds ?? "50"),
    parallel: wholeNumber("parallel", values.parallel ?? "3"),
    pages: wholeNumber("pages", values.pages ?? "2000"),
    seed: wholeNumber("seed", values.seed ?? String(1 + Math.floor(Math.random() * 1e6))),
  };
}

function wholeNumber(flag, words) {
  if (!/^[1-9]\d*$/.test(words)) throw new Error(`--${flag} takes a whole number, 1 or more, not "${words}"`);
  return Number(words);
}

function sumUp(rounds) {
  const total = (count) => rounds.reduce((sum, round) => sum + count(round), 0);
  const bad = rounds.filter(({ problems }) => problems.length > 0);
  const worst = Math.max(...rounds.map(({ excessMs }) => excessMs));
  console.log(
    `${rounds.length} rounds, ${total(({ kills }) => kills)} kills, ${total(({ requests }) => requests)} requests, ` +
      `${total(({ repeated }) => repeated)} repeated, worst excess ${worst.toFixed(2)} ms, ${bad.length} rounds with problems`,
  );
  return bad.length === 0 ? 0 : 1;
}
