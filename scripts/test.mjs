#!/usr/bin/env node
// `npm test -- <vitest flags>`: lint, types and tests. Every step runs, whatever the others say; the last lines sum up.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { ensureDebianPackages } from "./debian-packages.mjs";
import { ROOT } from "./dist.mjs";
import { ensureReady } from "./ensure.mjs";

await ensureReady();
ensureDebianPackages();

const WORDS_MOST = 300;
const folder = mkdtempSync(join(tmpdir(), "trawl-test-"));
const report = join(folder, "report.json");
const flags = process.argv.slice(2);
// Naming a reporter replaces the usual one, so it is named too, unless the caller has a wish.
const usual = flags.some((flag) => flag.startsWith("--reporter")) ? [] : ["--reporter=default"];
const steps = [
  ["biome check", "@biomejs/biome/bin/biome", "check", "."],
  ["tsc", "typescript/bin/tsc", "-p", "tsconfig.json", "--noEmit"],
  ["tsc of the dashboard", "typescript/bin/tsc", "-p", "dashboard", "--noEmit"],
  ["vitest", "vitest/vitest.mjs", "run", ...usual, "--reporter=json", `--outputFile.json=${report}`, ...flags],
];

const failed = [];
for (const [name, program, ...words] of steps) {
  console.log(`\n== ${name}`);
  const { status } = spawnSync(process.execPath, [join(ROOT, "node_modules", program), ...words], {
    cwd: ROOT,
    stdio: "inherit",
  });
  if (status !== 0) failed.push(name);
}
sumUp();

function sumUp() {
  const counts = readCounts();
  rmSync(folder, { recursive: true, force: true });
  console.log("");
  if (failed.length > 0) console.log(`FAILED: ${failed.join(", ")}`);
  for (const line of counts === undefined ? [] : failures(counts)) console.log(line);
  if (counts !== undefined) {
    if (counts.numPendingTests > 0) console.log(`${counts.numPendingTests} skipped`);
    console.log(`${counts.numPassedTests} passed, ${counts.numFailedTests} failed`);
  }
  process.exitCode = failed.length === 0 ? 0 : 1;
}

/** A line for each test that failed: of a long run, often only the end is kept. */
function failures({ testResults }) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(ROOT, name);
    const tests = assertionResults.filter((test) => test.status === "failed");
    if (tests.length === 0) return status === "failed" ? [`  ${file}: ${firstLine(message)}`] : [];
    return tests.map(({ fullName, failureMessages }) => `  ${file} > ${fullName}: ${firstLine(failureMessages[0])}`);
  });
}

function firstLine(message) {
  return (message ?? "").split("\n", 1)[0].slice(0, WORDS_MOST);
}

/** Undefined if vitest ended before it could tell, for example on a wrong flag. */
function readCounts() {
  try {
    return JSON.parse(readFileSync(report, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}
