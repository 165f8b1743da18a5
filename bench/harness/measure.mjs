/**
 * Runs one command and measures the CPU time and peak memory of its whole process tree.
 *
 * CPU time comes from `time` of bash. It reports the exact time that the kernel charged to the command and to every
 * descendant that was waited for; samples would miss the last moments. Peak memory is sampled. That is accurate,
 * because VmHWM is itself a high-water mark: only growth in the last `SAMPLE_MS` can be missed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { listDescendants, readHighWater } from "../services/process-cost.mjs";
import { guard } from "./guard.mjs";

const SAMPLE_MS = 50;
const KEPT_CHARS = 64_000;

// Descriptor 3 is the stderr of the command, so that the file contains only the output of `time`.
const TIMED = `TIMEFORMAT='%3R %3U %3S'
times=$1
shift
exec 3>&2
{ time "$@" 2>&3 3>&-; } 2>"$times"`;

/** Throws an error with the reason if this machine cannot measure a process tree. */
export function assertCanMeasure() {
  if (process.platform !== "linux") {
    throw new Error(`the benchmark reads /proc and runs on Linux only, not on ${process.platform}`);
  }
}

/**
 * `cost` is undefined if the command was killed after `timeoutMs` or by `signal`. After `budgetMs` the command is
 * ended, and `cost` is what it has used until then: this is only exact for a command without children. `scratch` is a
 * folder for temporary files.
 */
export async function measure({ command, args, cwd, env }, { scratch, timeoutMs, budgetMs, signal }) {
  const timesFile = join(scratch, "times");
  // The command gets its own process group, so that a kill also reaches the processes that it started.
  const shell = spawn("bash", ["-c", TIMED, "bash", timesFile, command, ...args], {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  guard(shell, scratch, { isGroup: true });
  const stdout = keepTail(shell.stdout);
  const stderr = keepTail(shell.stderr);
  const memory = watchMemory(shell.pid);
  let wasKilled = false;
  const kill = () => {
    wasKilled = true;
    killGroup(shell.pid);
  };
  // Not AbortSignal.any with AbortSignal.timeout: on Node 20, the garbage collector may remove the timeout before it
  // fires.
  const timer = setTimeout(kill, timeoutMs);
  let wasStopped = false;
  const stop = () => {
    wasStopped = true;
    // The shell is not killed, because it reports the cost.
    for (const pid of listDescendants(shell.pid)) killProcess(Number(pid));
  };
  const budget = budgetMs === undefined ? undefined : setTimeout(stop, budgetMs);
  signal.addEventListener("abort", kill);

  const [exitCode] = await once(shell, "close");
  clearTimeout(timer);
  clearTimeout(budget);
  signal.removeEventListener("abort", kill);
  memory.stop();
  return {
    exitCode,
    wasKilled,
    wasStopped,
    stdout: stdout.text(),
    stderr: stderr.text(),
    peakRssBytes: memory.peakBytes(),
    cost: exitCode === null ? undefined : await readCost(timesFile),
  };
}

function killGroup(pid) {
  killProcess(-pid);
}

/** Kills a process, or a process group if `pid` is negative. Does nothing if it has already ended. */
function killProcess(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (cause) {
    if (cause.code !== "ESRCH") throw cause;
  }
}

async function readCost(timesFile) {
  // Some locales write a decimal comma. Before the times, the shell may report that the command was killed.
  const printed = (await readFile(timesFile, "utf8")).replaceAll(",", ".").trim().split("\n").at(-1);
  const [wallS, userS, systemS] = printed.split(" ").map(Number);
  return { wallS, userS, systemS };
}

function keepTail(stream) {
  let kept = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk) => {
    kept = (kept + chunk).slice(-KEPT_CHARS);
  });
  return { text: () => kept };
}

/** The largest sum of the high-water marks of all descendants of `pid` at one instant. For one process, it is exact. */
function watchMemory(pid) {
  let peakBytes = 0;
  const timer = setInterval(() => {
    const bytes = listDescendants(pid).reduce((sum, descendant) => sum + readHighWater(descendant), 0);
    peakBytes = Math.max(peakBytes, bytes);
  }, SAMPLE_MS);
  return { stop: () => clearInterval(timer), peakBytes: () => peakBytes };
}
