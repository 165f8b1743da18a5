#!/usr/bin/env node
// What keeping a browser saves against starting one for every page, in turns. Exit code 1: less than it should.
import { parseArgs } from "node:util";
import { createJiti } from "jiti";
import { readCount, withOptions } from "./options.mjs";

const USAGE = `Usage: node scripts/bench-render.mjs [options]
  --pages N     pages rendered each way (30)
  --json        print one JSON object as the last line`;

/** A page in a kept browser may cost so much of one that the same browser is started for. */
const RATIO_MOST = 0.35;

const jiti = createJiti(import.meta.url);
process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

function readOptions() {
  const options = { pages: { type: "string", default: "30" }, json: { type: "boolean", default: false } };
  const { values } = parseArgs({ options });
  return { pages: readCount("--pages", values.pages), json: values.json };
}

async function main({ pages, json }) {
  const { startScriptSite } = await jiti.import("../test/site/script-site.ts");
  const { compareLaunches } = await jiti.import("../bench/render/compare-launches.ts");
  const { getChromium } = await jiti.import("../src/fetch/browser/find-chromium.ts");
  const site = await startScriptSite({ pages });
  try {
    const place = {
      executablePath: getChromium(process.env.TRAWL_CHROMIUM ?? "auto"),
      hasSandbox: process.getuid?.() !== 0,
    };
    const found = await compareLaunches((nth) => `${site.url}/p/${nth}`, { ...place, pages });
    console.log(json ? JSON.stringify(found) : inWords(found));
    const { cpu, wall } = found.toLaunched;
    return cpu <= RATIO_MOST && wall <= RATIO_MOST ? 0 : 1;
  } finally {
    await site.close();
  }
}

function inWords({ pages, kept, launched, stock, toLaunched, toStock }) {
  const each = ({ cpuSeconds, wallSeconds }) =>
    `${(cpuSeconds / pages).toFixed(3)} s of CPU, ${(wallSeconds / pages).toFixed(3)} s of time a page`;
  const part = ({ cpu, wall }) => `${cpu.toFixed(2)} of the CPU and ${wall.toFixed(2)} of the time`;
  return [
    `in a browser that stays:               ${each(kept)}`,
    `in one of Trawl's, started for it:     ${each(launched)}; that is ${part(toLaunched)} (at most ${RATIO_MOST})`,
    `in one of Playwright's, started for it: ${each(stock)}; that is ${part(toStock)}`,
  ].join("\n");
}
