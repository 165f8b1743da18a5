#!/usr/bin/env node
// `node scripts/record-crawl.mjs [file.svg]`: runs the demo in a terminal and writes the recording as SVG. Needs tmux.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { renderSvg } from "./ansi-svg.mjs";
import { ROOT } from "./dist.mjs";
import { ensureReady } from "./ensure.mjs";
import { openTerminal, plain } from "./terminal.mjs";

const COLUMNS = 100;
const ROWS = 24;
const COMMAND = "npx trawl demo";
const TITLE =
  "trawl demo in a terminal: a shop of a few hundred pages is crawled, with live progress and a report at the end";
const POLL_MS = 40;
/** Interval between two frames of the running crawl. */
const FRAME_MS = 450;
const TYPED_MS = 1_200;
const LAST_MS = 9_000;
const TIMEOUT_MS = 60_000;

await ensureReady();
const terminal = openTerminal({ columns: COLUMNS, rows: ROWS });
try {
  const frames = await record();
  const file = process.argv[2] ?? join(ROOT, "docs/media/crawl.svg");
  const svg = renderSvg({ frames, columns: COLUMNS, title: TITLE });
  writeFileSync(file, svg);
  console.log(`${file}: ${frames.length} frames, ${(svg.length / 1000).toFixed(0)} KB`);
} finally {
  terminal.close();
}

async function record() {
  const typed = await terminal.type(COMMAND);
  const frames = [{ screen: typed, ms: TYPED_MS }];
  const startedAt = performance.now();
  for (let frameAt = 0; ; ) {
    const screen = terminal.screen();
    const passedMs = performance.now() - startedAt;
    // A second prompt means that the demo has ended.
    if (screen.split("\n").filter((line) => plain(line).startsWith("$")).length > 1) {
      return [...frames, { screen, ms: LAST_MS }];
    }
    if (passedMs > TIMEOUT_MS) throw new Error(`the demo has not ended:\n${screen}`);
    if (passedMs >= frameAt && screen.includes("━")) {
      frames.push({ screen, ms: FRAME_MS });
      frameAt = passedMs + FRAME_MS;
    }
    await sleep(POLL_MS);
  }
}
