#!/usr/bin/env node
// `npm start -- <command> …`: installs and builds if needed, then runs Trawl. Without a command, it runs the demo.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { MAIN } from "./dist.mjs";
import { ensureReady } from "./ensure.mjs";

/** A second signal ends Trawl at once. One Ctrl-C may arrive twice within this time and must count once. */
const SAME_SIGNAL_MS = 400;
const ORPHAN_CHECK_MS = 250;
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGWINCH", "SIGCONT"];
const isWindows = process.platform === "win32";
const isUnderNpm = process.env.npm_lifecycle_event === "start";

await ensureReady();
const args = process.argv.slice(2);
run(args.length === 0 ? ["demo"] : args);

function run(command) {
  const child = spawn(process.execPath, [MAIN, ...command], {
    cwd: callersFolder(),
    stdio: "inherit",
    // In its own process group, the child gets Ctrl-C only from this process. This process gets it from the terminal,
    // and again from npm.
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

/** npm runs scripts in the folder of the package. Relative paths on the command line refer to the caller's folder. */
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
  // Ctrl-Z stops the process group of the terminal; the child has its own.
  process.on("SIGTSTP", () => {
    child.kill("SIGSTOP");
    process.kill(process.pid, "SIGSTOP");
  });
}

/**
 * If npm gets SIGTERM, it sends SIGTERM to the shell that runs this script. Then npm and the shell end, and this
 * process gets no signal: only its parent changes.
 */
function stopWithNpm(child) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    child.kill("SIGTERM");
  }, ORPHAN_CHECK_MS);
  watch.unref();
}
