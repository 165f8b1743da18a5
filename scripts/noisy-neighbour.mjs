#!/usr/bin/env node
// `node scripts/noisy-neighbour.mjs`: measures how much longer 100 URLs of one site take if 50,000 URLs of a slow site
// are in the same job.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createJiti } from "jiti";
import { MAIN } from "./dist.mjs";
import { ensureReady } from "./ensure.mjs";
import { readCount, withOptions } from "./options.mjs";

const USAGE = `Usage: node scripts/noisy-neighbour.mjs [options]
  --rounds N   pairs of runs, one without and one with the slow site, in alternating order (5)
  --slow N     URLs of the slow site, at 5/s (50000)
  --quick N    URLs of the quick site, without a limit (100)`;

process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

async function main(options) {
  await ensureReady();
  const { crawlTwoSites } = await createJiti(import.meta.url).import("../test/e2e/neighbours.ts");
  const rows = [];
  for (let round = 1; round <= options.rounds; round++) {
    const order = round % 2 === 1 ? [0, options.slow] : [options.slow, 0];
    const quickMs = new Map();
    for (const slowUrls of order)
      quickMs.set(slowUrls, (await inFolder(crawlTwoSites, slowUrls, options.quick)).quickMs);
    const [alone, together] = [quickMs.get(0), quickMs.get(options.slow)];
    const ratio = rounded(together / alone, 2);
    rows.push({ round, "alone, ms": rounded(alone), "together, ms": rounded(together), ratio });
    console.log(
      `round ${round}: ${rounded(alone)} ms alone, ${rounded(together)} ms together with the slow site, ratio ${ratio}`,
    );
  }
  console.table(rows);
  const ratios = rows.map(({ ratio }) => ratio).sort((one, other) => one - other);
  console.log(`median ratio ${ratios[Math.floor(ratios.length / 2)]}, from ${ratios[0]} to ${ratios.at(-1)}`);
  return 0;
}

async function inFolder(crawlTwoSites, slowUrls, quickUrls) {
  const folder = mkdtempSync(join(tmpdir(), "trawl-neighbours-"));
  try {
    return await crawlTwoSites({ slowUrls, slowPerSecond: 5, quickUrls, folder, main: MAIN });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readOptions() {
  const text = { type: "string" };
  const { values } = parseArgs({ options: { rounds: text, slow: text, quick: text } });
  return {
    rounds: readCount("--rounds", values.rounds ?? "5"),
    slow: readCount("--slow", values.slow ?? "50000"),
    quick: readCount("--quick", values.quick ?? "100"),
  };
}

function rounded(value, digits = 0) {
  return Number(value.toFixed(digits));
}
