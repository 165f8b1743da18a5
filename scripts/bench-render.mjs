#!/usr/bin/env node
// What keeping a browser saves against starting one for every page, in turns. Exit code 1: less than it should.
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { createJiti } from "jiti";
import { readCount, withOptions } from "./options.mjs";

/** With windows that nobody sees, and without. */
const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-headless-shell"];
const USAGE = `Usage: node scripts/bench-render.mjs [options]
  --pages N     pages rendered each way (30)
  --browser P   with this browser only (${BROWSERS.join(", ")}, as far as they are there)
  --json        print one JSON object as the last line`;

/**
 * A page in a kept browser may cost so much of one that the same browser is started for as Playwright starts it. The
 * browser without windows starts so quickly that no page in it can: it is shown, and not judged.
 */
const RATIO_MOST = 0.35;
const JUDGED = BROWSERS[0];

const jiti = createJiti(import.meta.url);
process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

function readOptions() {
  const text = { type: "string" };
  const { values } = parseArgs({ options: { pages: text, browser: text, json: { type: "boolean", default: false } } });
  const browsers = values.browser === undefined ? BROWSERS.filter((path) => existsSync(path)) : [values.browser];
  if (browsers.length === 0) throw new Error(`there is none of ${BROWSERS.join(", ")}: name one with --browser`);
  return { pages: readCount("--pages", values.pages ?? "30"), browsers, json: values.json };
}

async function main({ pages, browsers, json }) {
  const { startScriptSite } = await jiti.import("../test/site/script-site.ts");
  const { compareLaunches } = await jiti.import("../bench/render/compare-launches.ts");
  const site = await startScriptSite({ pages });
  const found = {};
  try {
    for (const executablePath of browsers) {
      const place = { executablePath, hasSandbox: process.getuid?.() !== 0 };
      found[executablePath] = await compareLaunches((nth) => `${site.url}/p/${nth}`, { ...place, pages });
      if (!json) console.log(inWords(executablePath, found[executablePath]));
    }
  } finally {
    await site.close();
  }
  if (json) console.log(JSON.stringify(found));
  const judged = found[JUDGED];
  if (judged === undefined) return 0;
  return judged.toStock.cpu <= RATIO_MOST && judged.toStock.wall <= RATIO_MOST ? 0 : 1;
}

function inWords(path, { pages, kept, launched, stock, toLaunched, toStock }) {
  const each = ({ cpuSeconds, wallSeconds }) =>
    `${(cpuSeconds / pages).toFixed(3)} s of CPU, ${(wallSeconds / pages).toFixed(3)} s of time a page`;
  const part = ({ cpu, wall }) => `${cpu.toFixed(2)} of the CPU and ${wall.toFixed(2)} of the time`;
  return [
    path,
    `  in a browser that stays:                ${each(kept)}`,
    `  in one of Trawl's, started for it:      ${each(launched)}; staying takes ${part(toLaunched)} of that`,
    `  in one of Playwright's, started for it: ${each(stock)}; staying takes ${part(toStock)} of that${path === JUDGED ? ` (at most ${RATIO_MOST})` : ""}`,
  ].join("\n");
}
