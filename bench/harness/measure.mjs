/**
 * Runs one command and measures what its whole process tree cost.
 *
 * CPU comes from bash's `time`: it reports what the kernel charged to the command and to every descendant that was
 * waited for, exactly and after the end, where sampling would miss the last moments. Peak memory is sampled, which is
 * safe because VmHWM is itself a high-water mark: only growth in the last `SAMPLE_MS` can be missed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const SAMPLE_MS = 50;
const KEPT_CHARS = 64_000;

// Descriptor 3 is the command's own stderr, so that what `time` prints goes to the file and nothing else does.
const TIMED = `TIMEFORMAT='%3R %3U %3S'
times=$1
shift
exec 3>&2
{ time "$@" 2>&3 3>&-; } 2>"$times"`;

/** Throws where a process tree cannot be measured, with the reason. */
export function assertCanMeasure() {
  if (process.platform !== "linux") {
    throw new Error(`the benchmark reads /proc and runs on Linux only, not on ${process.platform}`);
  }
}

/**
 * `cost` is undefined if the command was cut off: by `timeoutMs`, or by `signal`. `scratch` is a folder to write in.
 */
export async function measure({ command, args, cwd, env }, { scratch, timeoutMs, signal }) {
  const timesFile = join(scratch, "times");
  // A group of its own, so that cutting it off reaches what the command started.
  const shell = spawn("bash", ["-c", TIMED, "bash", timesFile, command, ...args], {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const stdout = keepTail(shell.stdout);
  const stderr = keepTail(shell.stderr);
  const memory = watchMemory(shell.pid);
  const deadline = AbortSignal.any([AbortSignal.timeout(timeoutMs), signal]);
  const cutOff = () => killGroup(shell.pid);
  deadline.addEventListener("abort", cutOff);

  const [exitCode] = await once(shell, "close");
  deadline.removeEventListener("abort", cutOff);
  memory.stop();
  return {
    exitCode,
    wasCutOff: deadline.aborted,
    stdout: stdout.text(),
    stderr: stderr.text(),
    peakRssBytes: memory.peakBytes(),
    cost: exitCode === null ? undefined : await readCost(timesFile),
  };
}

/** The group may have ended by itself a moment ago. */
function killGroup(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (cause) {
    if (cause.code !== "ESRCH") throw cause;
  }
}

async function readCost(timesFile) {
  // Some locales write a decimal comma.
  const printed = (await readFile(timesFile, "utf8")).replaceAll(",", ".");
  const [wallS, userS, systemS] = printed.trim().split(" ").map(Number);
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

/** The largest sum, at one instant, of the high-water marks of all descendants of `pid`. For one process it is exact. */
function watchMemory(pid) {
  let peakBytes = 0;
  const timer = setInterval(() => {
    const bytes = listDescendants(pid).reduce((sum, descendant) => sum + readHighWater(descendant), 0);
    peakBytes = Math.max(peakBytes, bytes);
  }, SAMPLE_MS);
  return { stop: () => clearInterval(timer), peakBytes: () => peakBytes };
}

function listDescendants(pid) {
  const children = unlessGone(() => readdirSync(`/proc/${pid}/task`), []).flatMap((thread) =>
    unlessGone(() => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8"), "")
      .split(" ")
      .filter((child) => child !== ""),
  );
  return children.flatMap((child) => [child, ...listDescendants(child)]);
}

function readHighWater(pid) {
  const status = unlessGone(() => readFileSync(`/proc/${pid}/status`, "utf8"), "");
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1_024;
}

/** Processes and threads end while we look at them. */
function unlessGone(read, otherwise) {
  try {
    return read();
  } catch (cause) {
    if (cause.code === "ENOENT" || cause.code === "ESRCH") return otherwise;
    throw cause;
  }
}
