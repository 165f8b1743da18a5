/**
 * The processes of a test run, and of each test file: finds those that outlive it, and kills them.
 *
 * The run sets TMPDIR to a folder of its own. A process belongs to the run if its environment, its command line or its
 * working directory names that folder, if its parent belongs to the run, or if the leader of its process group does.
 * The environment alone is not enough: Chromium, Redis and PostgreSQL overwrite theirs, and Trawl starts Chromium with
 * an environment that it writes itself. Works on Linux; elsewhere no process is found.
 */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** The variable that names the run and the test file in the environment of every process that the file starts. */
const ORIGIN = "TEST_ORIGIN";
/** Marks TMPDIR as the folder of a run. */
const PREFIX = "trawl-run-";
/**
 * How long processes may take to end. A shell that waits for the end of the test process ends the servers of the tests.
 */
const GRACE_MS = 10_000;
const POLL_MS = 50;
const COMMAND_CHARS = 200;

/** Creates the folder of a run and sets TMPDIR to it. Returns undefined inside a run: the outer run cleans up. */
export function beginTestRun() {
  if (tmpdir().includes(PREFIX)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  chmodSync(folder, 0o755); // PostgreSQL runs as another user where the tests run as root
  process.env.TMPDIR = folder;
  return folder;
}

/**
 * Waits until no process of the run is left, kills those that stay, and removes the folder unless `keepsFolder` is set.
 * Returns a line for each process that had to be killed. Ignores this process and its own children: those are the
 * workers of the test runner.
 */
export async function endTestRun(folder, options = {}) {
  const lines = await endAll(() => findProcesses(folder, ({ parent }) => parent === process.pid), options);
  if (options.keepsFolder !== true) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  return lines;
}

/** From now on, processes that this process starts belong to the test file at `path`. */
export function beginTestFile(path) {
  process.env[ORIGIN] = `${tmpdir()}:${path}`;
}

/** As `endTestRun`, for the processes of the current test file. Servers that hide their environment are not found. */
export function endTestFile(options = {}) {
  const origin = process.env[ORIGIN];
  return endAll(() => findProcesses(`${ORIGIN}=${origin}\0`), options);
}

async function endAll(find, { graceMs = GRACE_MS }) {
  const giveUpAt = performance.now() + graceMs;
  let left = find();
  while (left.length > 0 && performance.now() < giveUpAt) {
    await sleep(POLL_MS);
    left = find();
  }
  const lines = left.map(
    ({ pid, command, file }) => `${command} (pid ${pid}, started by ${file ?? "an unknown test"})`,
  );
  // A killed process may have started another one since the last scan.
  for (; left.length > 0; left = find()) {
    for (const { pid } of left) kill(pid);
    await sleep(POLL_MS);
  }
  return lines;
}

/** The processes that name `mark`, and those that they started. Never this process or one that it descends from. */
export function findProcesses(mark, isExempt = () => false) {
  const all = new Map(listProcesses().map((one) => [one.pid, one]));
  const ancestors = ancestorsOf(process.pid, all);
  const known = new Map();
  function belongs(pid) {
    const found = all.get(pid);
    if (found === undefined || ancestors.has(pid) || isExempt(found)) return false;
    if (!known.has(pid)) {
      known.set(pid, false); // ends the recursion: most processes lead their own group
      known.set(pid, names(found, mark) || belongs(found.parent) || belongs(found.group));
    }
    return known.get(pid);
  }
  return [...all.values()].filter(({ pid }) => belongs(pid)).map(describe);
}

function ancestorsOf(pid, all) {
  const found = new Set();
  for (let next = pid; next !== undefined && !found.has(next); next = all.get(next)?.parent) found.add(next);
  return found;
}

function listProcesses() {
  return (existsSync("/proc") ? readdirSync("/proc") : [])
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      const [state, parent, group] = read(name, "stat")
        .replace(/^.*\) /s, "")
        .split(" ");
      return { pid: Number(name), state, parent: Number(parent), group: Number(group) };
    })
    .filter(({ state }) => state !== "" && state !== "Z"); // a zombie has ended
}

function names({ pid }, folder) {
  return (
    read(pid, "environ").includes(folder) || read(pid, "cmdline").includes(folder) || cwdOf(pid).startsWith(folder)
  );
}

function describe({ pid }) {
  const command = read(pid, "cmdline").replaceAll("\0", " ").trim().slice(0, COMMAND_CHARS);
  const [, file] = new RegExp(`(?:^|\0)${ORIGIN}=[^\0:]*:([^\0]*)`).exec(read(pid, "environ")) ?? [];
  return { pid, command, file };
}

function read(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return ""; // the process has ended, or belongs to another user
  }
}

function cwdOf(pid) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return ""; // as above
  }
}

function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}
