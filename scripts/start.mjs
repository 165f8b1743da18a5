#!/usr/bin/env node
// `npm start -- <command> …`: makes the clone ready, then runs Trawl; without a command, its demo.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { MAIN } from "./dist.mjs";
import { ensureReady } from "./ensure.mjs";

/** A second signal means "now, at once": the same Ctrl-C seen twice must not count as two. */
const SAME_SIGNAL_MS = 400;
const ORPHAN_CHECK_MS = 250;
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGWINCH", "SIGCONT"];
const isWindows = process.platform === "win32";
const isUnderNpm = process.env.npm_lifecycle_event === "start";

await ensureReady();
const words = process.argv.slice(2);
run(words.length === 0 ? ["demo"] : words);

function run(command) {
  const child = spawn(process.execPath, [MAIN, ...command], {
    cwd: callersFolder(),
    stdio: "inherit",
    // A group of its own: Ctrl-C reaches this process from the terminal and again from npm, and the child only from here.
    detached: !isWindows,
  });
  if (!isWindows) forwardSignals(child);
  if (!isWindows && isUnderNpm) stopWithNpm(child);
  child.on("error", (error) => {
    console.error(`Trawl could not be started: ${error.message}`);
    process.exitCode = 1;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}

/** npm runs scripts in the package's folder; relative paths on the command line mean the caller's. */
function callersFolder() {
  const { INIT_CWD: folder } = process.env;
  return isUnderNpm && folder !== undefined ? folder : process.cwd();
}

function forwardSignals(child) {
  const lastAt = new Map();
  for (const signal of FORWARDED) {
    process.on(signal, () => {
      const now = performance.now();
      const isEcho = now - (lastAt.get(signal) ?? Number.NEGATIVE_INFINITY) < SAME_SIGNAL_MS;
      if (isEcho && signal !== "SIGWINCH") return;
      lastAt.set(signal, now);
      child.kill(signal);
    });
  }
  // Ctrl-Z stops the terminal's group, which the child is not in.
  process.on("SIGTSTP", () => {
    child.kill("SIGSTOP");
    process.kill(process.pid, "SIGSTOP");
  });
}

/** npm hands SIGTERM to the shell between us and it, and both are gone without a word to us; only the parent changes. */
function stopWithNpm(child) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    child.kill("SIGTERM");
  }, ORPHAN_CHECK_MS);
  watch.unref();
}
