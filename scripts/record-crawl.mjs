#!/usr/bin/env node
// `node scripts/record-crawl.mjs [file.svg]`: runs the demo in a real terminal and draws what it showed. Needs tmux.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { renderSvg } from "./ansi-svg.mjs";
import { MAIN, ROOT } from "./dist.mjs";
import { ensureReady } from "./ensure.mjs";

const COLUMNS = 100;
const ROWS = 24;
const COMMAND = "npx trawl demo";
const TITLE =
  "trawl demo in a terminal: a shop of a few hundred pages is crawled, with live progress and a report at the end";
const LOOK_EVERY_MS = 40;
/** Frames of a running crawl that are kept, this far apart. */
const FRAME_MS = 450;
const TYPED_MS = 1_200;
const LAST_MS = 9_000;
const GIVE_UP_MS = 60_000;

await ensureReady();
const folder = mkdtempSync(join(tmpdir(), "trawl-record-"));
const socket = `trawl-record-${process.pid}`;
try {
  const frames = await record();
  const file = process.argv[2] ?? join(ROOT, "docs/media/crawl.svg");
  const svg = renderSvg({ frames, columns: COLUMNS, title: TITLE });
  writeFileSync(file, svg);
  console.log(`${file}: ${frames.length} frames, ${(svg.length / 1000).toFixed(0)} KB`);
} finally {
  tmux("kill-server");
  rmSync(folder, { recursive: true, force: true });
}

async function record() {
  // Where npx looks first.
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(MAIN, join(folder, "node_modules/.bin/trawl"));
  openTerminal();
  await until((screen) => screen.trim() === "$");
  tmux("send-keys", "-l", COMMAND);
  const typed = await until((screen) => screen.includes(COMMAND));
  tmux("send-keys", "Enter");
  const frames = [{ screen: typed, ms: TYPED_MS }];
  const startedAt = performance.now();
  for (let frameAt = 0; ; ) {
    const screen = look();
    const passedMs = performance.now() - startedAt;
    // The second prompt: the demo has ended.
    if (screen.split("\n").filter((line) => plain(line).startsWith("$")).length > 1) {
      return [...frames, { screen, ms: LAST_MS }];
    }
    if (passedMs > GIVE_UP_MS) throw new Error(`the demo has not ended:\n${screen}`);
    if (passedMs >= frameAt && screen.includes("━")) {
      frames.push({ screen, ms: FRAME_MS });
      frameAt = passedMs + FRAME_MS;
    }
    await sleep(LOOK_EVERY_MS);
  }
}

function openTerminal() {
  const quiet = ["NPM_CONFIG_USERCONFIG=/dev/null", "NPM_CONFIG_UPDATE_NOTIFIER=false", "NPM_CONFIG_LOGLEVEL=error"];
  const shell = ["env", "TERM=xterm-256color", "PS1=$ ", ...quiet, "bash", "--norc", "--noprofile"];
  const { status, error, stderr } = tmux(
    ...["-f", "/dev/null", "new-session", "-d", "-x", String(COLUMNS), "-y", String(ROWS), "-c", folder],
    ...shell,
  );
  if (error !== undefined) throw new Error(`tmux is needed, and cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`tmux: ${stderr}`);
}

async function until(isThere) {
  for (const startedAt = performance.now(); performance.now() - startedAt < GIVE_UP_MS; ) {
    const screen = look();
    if (isThere(plain(screen))) return screen;
    await sleep(LOOK_EVERY_MS);
  }
  throw new Error(`the terminal does not show what it should:\n${look()}`);
}

function look() {
  return tmux("capture-pane", "-e", "-p").stdout;
}

function plain(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes are what is to go
  return text.replaceAll(/\x1b\[[\d;]*m/g, "");
}

function tmux(...words) {
  return spawnSync("tmux", ["-L", socket, ...words], { encoding: "utf8" });
}
