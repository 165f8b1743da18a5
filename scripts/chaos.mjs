#!/usr/bin/env node
// `npm run chaos -- --rounds 50 --parallel 3`: kills crawls at random moments and resumes them, many times.
import { parseArgs } from "node:util";
import { createJiti } from "jiti";
import { MAIN } from "./dist.mjs";
import { ensureReady } from "./ensure.mjs";
import { readCount, withOptions } from "./options.mjs";

const USAGE = `Usage: node scripts/chaos.mjs [options]
  --rounds N     number of crawls (50)
  --parallel N   crawls at a time (3)
  --pages N      pages of each site (2000)
  --seed N       seed of the first round; each further round uses the next number (random)`;

process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

async function main(options) {
  await ensureReady();
  const { runRounds, roundRow } = await createJiti(import.meta.url).import("../test/chaos/rounds.ts");
  console.log(
    `${options.rounds} rounds, ${options.parallel} at a time, ${options.pages} pages, --seed ${options.seed}`,
  );
  const rounds = await runRounds({
    ...options,
    main: MAIN,
    onRound: ({ seed, kills, problems }, folder) => {
      const text = problems.length === 0 ? "ok" : `${problems.join("; ")} (files left in ${folder})`;
      console.log(`seed ${seed}: ${kills} kills, ${text}`);
    },
  });
  console.table(rounds.map(roundRow));
  return printSummary(rounds);
}

function readOptions() {
  const text = { type: "string" };
  const { values } = parseArgs({ options: { rounds: text, parallel: text, pages: text, seed: text } });
  return {
    rounds: readCount("--rounds", values.rounds ?? "50"),
    parallel: readCount("--parallel", values.parallel ?? "3"),
    pages: readCount("--pages", values.pages ?? "2000"),
    seed: readCount("--seed", values.seed ?? String(1 + Math.floor(Math.random() * 1e6))),
  };
}

function printSummary(rounds) {
  const total = (count) => rounds.reduce((sum, round) => sum + count(round), 0);
  const bad = rounds.filter(({ problems }) => problems.length > 0);
  const worst = Math.max(...rounds.map(({ excessMs }) => excessMs));
  console.log(
    `${rounds.length} rounds, ${total(({ kills }) => kills)} kills, ${total(({ requests }) => requests)} requests, ` +
      `${total(({ repeated }) => repeated)} repeated, worst excess ${worst.toFixed(2)} ms, ${bad.length} rounds with problems`,
  );
  return bad.length === 0 ? 0 : 1;
}
