#!/usr/bin/env node
// `node scripts/test.mjs COMMAND [vitest flags and paths]`: lint, types and tests. All steps run, also after one has
// failed. The last line is `N passed, N failed`. COMMAND is a key of COMMANDS below; scripts/test-groups.ts lists the
// files of each test group. With a path, the tests of every group below that path run.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { beginTestRun, endTestRun } from "../test/services/test-run.mjs";
import { ROOT } from "./dist.mjs";
import { ensureReady } from "./ensure.mjs";
import { describeMissing, ensureTestPrograms } from "./test-programs.mjs";

/** The projects of vitest.config.ts that a test group consists of. */
const PROJECTS = { quick: ["units", "quick"], main: ["main"], rest: ["rest"] };
/** The test groups that a command runs, and whether it checks lint and types. */
const COMMANDS = {
  quick: { groups: ["quick"], isChecked: true },
  main: { groups: ["quick", "main"], isChecked: true },
  rest: { groups: ["rest"], isChecked: false },
  all: { groups: ["quick", "main", "rest"], isChecked: true },
};
const MESSAGE_CHARS = 300;

const [command = "main", ...flags] = process.argv.slice(2);
const { groups, isChecked } =
  COMMANDS[command] ?? fail(`unknown command ${command}: use ${Object.keys(COMMANDS).join(", ")}`);
const hasPath = flags.some((flag) => !flag.startsWith("-"));

await ensureReady();
const missing = ensureTestPrograms(hasPath ? COMMANDS.all.groups : groups);

const folder = beginTestRun();
const report = join(folder ?? ROOT, "report.json");
let running;
let isInterrupted = false;
// Ctrl-C also reaches vitest, which then ends. The processes of the tests are ended below.
process.on("SIGINT", () => {
  isInterrupted = true;
});
process.on("SIGTERM", () => {
  isInterrupted = true;
  running?.kill("SIGTERM");
});

const failed = [];
for (const [name, program, ...args] of steps()) {
  if (isInterrupted) break;
  console.log(`\n== ${name}`);
  if ((await run(program, args)) !== 0) failed.push(name);
}
const counts = readCounts();
const left = folder === undefined ? [] : await endTestRun(folder, { keepsFolder: failed.includes("vitest") });
printSummary();

function steps() {
  // The JSON reporter would replace the default reporter, so the default is named too, unless the caller has chosen
  // one.
  const reporters = flags.some((flag) => flag.startsWith("--reporter")) ? [] : ["--reporter=default"];
  const projects = hasPath ? [] : groups.flatMap((group) => PROJECTS[group]).map((name) => `--project=${name}`);
  const output = ["--reporter=json", `--outputFile.json=${report}`];
  const checks = [
    ["biome check", "@biomejs/biome/bin/biome", "check", "."],
    ["tsc", "typescript/bin/tsc", "-p", "tsconfig.json", "--noEmit"],
    ["tsc of the dashboard", "typescript/bin/tsc", "-p", "dashboard", "--noEmit"],
  ];
  const tests = ["vitest", "vitest/vitest.mjs", "run", ...reporters, ...output, ...projects, ...flags];
  return [...(isChecked ? checks : []), tests];
}

/** Resolves with the exit code; null if a signal ended the process. */
function run(program, args) {
  return new Promise((resolve) => {
    running = spawn(process.execPath, [join(ROOT, "node_modules", program), ...args], { cwd: ROOT, stdio: "inherit" });
    running.on("close", resolve);
  });
}

function printSummary() {
  console.log("");
  for (const line of describeMissing(missing)) console.log(line);
  if (failed.length > 0) console.log(`FAILED: ${failed.join(", ")}`);
  if (failed.includes("vitest")) console.log(`The files of the tests are in ${folder}`);
  if (isInterrupted) console.log("INTERRUPTED");
  for (const line of counts === undefined ? [] : describeFailures(counts)) console.log(line);
  if (left.length > 0) console.log(["FAILED: processes outlived the tests and were killed:", ...left].join("\n  "));
  const { numPassedTests = 0, numFailedTests = 0, numPendingTests = 0 } = counts ?? {};
  // A step that failed without a failed test counts as one failure: lint, types, a file that cannot be loaded.
  const others = failed.filter((name) => name !== "vitest" || numFailedTests === 0).length + (left.length > 0 ? 1 : 0);
  const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : "";
  console.log(`${numPassedTests} passed, ${numFailedTests + others} failed${skipped}`);
  process.exitCode = failed.length === 0 && left.length === 0 && !isInterrupted ? 0 : 1;
}

/** One line for each failed test, because often only the end of a long log is kept. */
function describeFailures({ testResults }) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(ROOT, name);
    const tests = assertionResults.filter((test) => test.status === "failed");
    if (tests.length === 0) return status === "failed" ? [`  ${file}: ${firstLine(message)}`] : [];
    return tests.map(({ fullName, failureMessages }) => `  ${file} > ${fullName}: ${firstLine(failureMessages[0])}`);
  });
}

function firstLine(message) {
  return (message ?? "").split("\n", 1)[0].slice(0, MESSAGE_CHARS);
}

/** Undefined if vitest ended before it wrote the report, for example because of a wrong flag. */
function readCounts() {
  try {
    return JSON.parse(readFileSync(report, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
