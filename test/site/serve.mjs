#!/usr/bin/env node
// Serves the linked site in a separate process, for tests that kill processes. The first line it prints is its URL.
//   node test/site/serve.mjs [--port 0] [--log access.jsonl] [--pages 200] [--links-per-page 8] [--page-bytes 2000]
//                            [--disallowed-every 5] [--delay-ms 0] [--seed 1]
// Each request is appended to the log as it arrives and as it ends; read it with readAccessLog (access-log.ts).
// SIGTERM and SIGINT end it with exit code 0.
import { parseArgs } from "node:util";
import { createJiti } from "jiti";

const jiti = createJiti(import.meta.url);
const { startLinkedSite } = await jiti.import("./linked-site.ts");
const { createAccessLogWriter } = await jiti.import("./access-log.ts");

const NUMBERS = {
  pages: "pages",
  "links-per-page": "linksPerPage",
  "page-bytes": "pageBytes",
  "disallowed-every": "disallowedEvery",
  "delay-ms": "delayMs",
  seed: "seed",
};

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    log: { type: "string" },
    ...Object.fromEntries(Object.keys(NUMBERS).map((flag) => [flag, { type: "string" }])),
  },
});

const site = {};
for (const [flag, option] of Object.entries(NUMBERS)) {
  if (values[flag] !== undefined) site[option] = wholeNumber(flag, values[flag]);
}
const log = values.log === undefined ? undefined : createAccessLogWriter(values.log);
const running = await startLinkedSite(site, { port: wholeNumber("port", values.port), ...log });
for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, stop);
console.log(running.url);

async function stop() {
  // The log stays open until the process exits, so that requests which are aborted now still get their line.
  await running.close();
  process.exit(0);
}

function wholeNumber(flag, text) {
  if (!/^\d+$/.test(text)) throw new Error(`--${flag} takes a whole number, not "${text}"`);
  return Number(text);
}
