#!/usr/bin/env node
// Measures how many acknowledged writes Redis loses when it is killed, for each setting of its append-only file. Prints
// the table of docs/operations.md.
import { parseArgs } from "node:util";
import { createJiti } from "jiti";
import { readCount, withOptions } from "./options.mjs";

const USAGE = `Usage: node scripts/broker-loss.mjs [--rounds N]
  --rounds N   kills per setting (10)`;

/** The range of times from the first call to the kill. */
const [SOONEST_MS, LATEST_MS] = [200, 1_200];
const SETTINGS = ["always", "everysec", "no"];

process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

async function main({ rounds }) {
  const { runLossRound } = await createJiti(import.meta.url).import("../test/operations/loss-round.ts");
  console.log("| append-only file | kills | URLs acknowledged | lost | settlements | lost | URLs/s in | tasks/s out |");
  console.log("|---|---|---|---|---|---|---|---|");
  for (const appendonly of SETTINGS) {
    const sum = { queued: 0, settled: 0, lostUrls: 0, lostSettlements: 0, busyMs: 0 };
    for (let round = 0; round < rounds; round++) {
      const killAfterMs = SOONEST_MS + Math.random() * (LATEST_MS - SOONEST_MS);
      const loss = await runLossRound(appendonly, killAfterMs);
      for (const name of Object.keys(sum)) sum[name] += loss[name];
    }
    console.log(row(appendonly, rounds, sum));
  }
  return 0;
}

function readOptions() {
  const { values } = parseArgs({ options: { rounds: { type: "string", default: "10" } } });
  return { rounds: readCount("--rounds", values.rounds) };
}

function row(appendonly, rounds, { queued, settled, lostUrls, lostSettlements, busyMs }) {
  const name = appendonly === "no" ? "none" : `\`appendfsync ${appendonly}\``;
  const perSecond = (count) => Math.round((count / busyMs) * 1000);
  const counts = [rounds, queued, lostUrls, settled, lostSettlements, perSecond(queued), perSecond(settled)];
  return `| ${name} | ${counts.map((count) => count.toLocaleString("en-US")).join(" | ")} |`;
}
