#!/usr/bin/env node
// Compares rendering in a browser that is kept with starting a browser for every page. Exits with 1 if keeping it saves
// too little.
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { createJiti } from "jiti";
import { readCount, withOptions } from "./options.mjs";

/** The full Chromium, and the headless shell, which has no user interface. */
const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-headless-shell"];
const USAGE = `Usage: node scripts/bench-render.mjs [options]
  --pages N     pages rendered in each mode (30)
  --browser P   only this browser (those of ${BROWSERS.join(", ")} that are installed)
  --json        print one JSON object as the last line`;

/**
 * Largest cost of a page in a kept browser, relative to a page in a browser that Playwright starts for it. The headless
 * shell starts so fast that no page can meet this limit: its figures are printed, not judged.
 */
const MAX_RATIO = 0.35;
const JUDGED = BROWSERS[0];

const jiti = createJiti(import.meta.url);
process.exitCode = await withOptions({ usage: USAGE, readOptions }, main);

function readOptions() {
  const text = { type: "string" };
  const { values } = parseArgs({ options: { pages: text, browser: text, json: { type: "boolean", default: false } } });
  const browsers = values.browser === undefined ? BROWSERS.filter((path) => existsSync(path)) : [values.browser];
  if (browsers.length === 0)
    throw new Error(`none of ${BROWSERS.join(", ")} is installed: pass the path of a browser with --browser`);
  return { pages: readCount("--pages", values.pages ?? "30"), browsers, json: values.json };
}

async function main({ pages, browsers, json }) {
  const { startScriptSite } = await jiti.import("../test/site/script-site.ts");
  const { compareLaunches } = await jiti.import("../bench/render/compare-launches.ts");
  const site = await startScriptSite({ pages });
  const found = {};
  try {
    for (const executablePath of browsers) {
      const browser = { executablePath, hasSandbox: process.getuid?.() !== 0 };
      found[executablePath] = await compareLaunches((nth) => `${site.url}/p/${nth}`, { ...browser, pages });
      if (!json) console.log(describeResult(executablePath, found[executablePath]));
    }
  } finally {
    await site.close();
  }
  if (json) console.log(JSON.stringify(found));
  const judged = found[JUDGED];
  if (judged === undefined) return 0;
  return judged.toStock.cpu <= MAX_RATIO && judged.toStock.wall <= MAX_RATIO ? 0 : 1;
}

function describeResult(path, { pages, kept, launched, stock, toLaunched, toStock }) {
  const each = ({ cpuSeconds, wallSeconds }) =>
    `${(cpuSeconds / pages).toFixed(3)} s of CPU, ${(wallSeconds / pages).toFixed(3)} s of time per page`;
  const part = ({ cpu, wall }) => `${cpu.toFixed(2)} of the CPU and ${wall.toFixed(2)} of the time`;
  return [
    path,
    `  in a browser that is kept:              ${each(kept)}`,
    `  in a browser started by Trawl:          ${each(launched)}; the kept browser takes ${part(toLaunched)} of that`,
    `  in a browser started by Playwright:     ${each(stock)}; the kept browser takes ${part(toStock)} of that${path === JUDGED ? ` (at most ${MAX_RATIO})` : ""}`,
  ].join("\n");
}
