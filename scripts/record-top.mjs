#!/usr/bin/env node
// `node scripts/record-top.mjs [file.svg]`: runs a fleet and `trawl top` in a terminal, and writes the recording as
// SVG. Needs tmux.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { renderSvg } from "./ansi-svg.mjs";
import { MAIN, ROOT } from "./dist.mjs";
import { ensureReady } from "./ensure.mjs";
import { openTerminal } from "./terminal.mjs";

const COLUMNS = 100;
const ROWS = 24;
const TITLE =
  "trawl top in a terminal: jobs with their progress, queues, sites and workers, with sparklines of the last minutes";
/** How long the fleet runs before the recording, so that the sparklines show a line. */
const WORK_MS = 60_000;
const FRAMES = 8;
const FRAME_MS = 1_000;
const JOBS = [
  { shop: 0, flags: ["--name", "shop", "--rate", "5/s"] },
  { shop: 0, flags: ["--name", "front page", "--max-pages", "5"] },
  { shop: 1, flags: ["--name", "books of the week", "--rate", "2/s", "--queue", "high_priority"] },
];

await ensureReady();
const terminal = openTerminal({ columns: COLUMNS, rows: ROWS });
const running = [];
try {
  const frames = await record();
  const file = process.argv[2] ?? join(ROOT, "docs/media/top.svg");
  const svg = renderSvg({ frames, columns: COLUMNS, title: TITLE });
  writeFileSync(file, svg);
  console.log(`${file}: ${frames.length} frames, ${(svg.length / 1000).toFixed(0)} KB`);
} finally {
  for (const child of running) child.kill("SIGKILL");
  terminal.close();
}

async function record() {
  const shops = [await start(["demo", "--serve"], /(http:\S+)/), await start(["demo", "--serve"], /(http:\S+)/)];
  await start(
    ["up", "--no-serve", "--fetch", "2", "--render", "0", "--parse", "0", "--queue", "high_priority"],
    /stop/,
  );
  for (const { shop, flags } of JOBS) await run(["submit", shops[shop], ...flags, "--quiet"]);
  // A site that does not answer: its task is delayed between attempts.
  await run(["submit", "http://127.0.0.2:9/", "--name", "unreachable site", "--quiet"]);
  await sleep(WORK_MS);
  await terminal.type("npx trawl top");
  await terminal.until((screen) => screen.includes("q quit"));
  const frames = [];
  while (frames.length < FRAMES) {
    await sleep(FRAME_MS);
    frames.push({ screen: terminal.screen(), ms: FRAME_MS });
  }
  return frames;
}

function trawl(args) {
  const env = { ...process.env, TRAWL_ALLOW_PRIVATE: "127.0.0.0/8" };
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: terminal.folder, env });
  running.push(child);
  return child;
}

async function run(args) {
  const [code] = await once(trawl(args), "exit");
  if (code !== 0) throw new Error(`trawl ${args.join(" ")} has ended with ${code}`);
}

/** Resolves with the first group of `pattern`, once the output of the process matches it. */
function start(args, pattern) {
  const child = trawl(args);
  return new Promise((resolve, reject) => {
    let output = "";
    const read = (text) => {
      output += text;
      const found = pattern.exec(output);
      if (found !== null) resolve(found[1]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("exit", () => reject(new Error(`trawl ${args.join(" ")} has ended: ${output}`)));
  });
}
