/**
 * Checks that the benchmark works: runs every case at a hundredth of its size, without BullMQ, which is not installed.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { findProgram } from "../../test/services/debian-programs.mjs";
import { ROOT } from "../harness/folders.mjs";

const SCRIPT = join(ROOT, "scripts/bench-frontier.mjs");
const isPossible = findProgram("redis-server") !== undefined;
if (!isPossible) console.warn("SKIPPED: the benchmark of the frontier: redis-server is not installed");

function bench(...flags) {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [SCRIPT, ...flags], (_, stdout, stderr) => {
      resolve({ status: child.exitCode, stdout, stderr });
    });
  });
}

describe.skipIf(!isPossible)("the benchmark of the frontier", () => {
  it("measures every case and writes the results", async () => {
    const folder = mkdtempSync(join(tmpdir(), "trawl-bench-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const json = join(folder, "result.json");

    const { status, stdout, stderr } = await bench(
      ...["--source", "--scale", "0.01", "--rounds", "1", "--only", "trawl,trawl-embedded,zset", "--json", json],
    );

    expect(status, `${stdout}\n${stderr}`).toBe(0);
    const { runs, verdicts } = JSON.parse(readFileSync(json, "utf8"));
    expect(new Set(runs.map((run) => run.case))).toEqual(
      new Set([
        "enqueue",
        "drain",
        "operations",
        "latency",
        "first-byte",
        "memory",
        "growth",
        "sites",
        "spacing",
        "idle",
      ]),
    );
    expect(runs.filter(({ figures }) => figures === undefined)).toEqual([]);
    const spacing = JSON.stringify(runs.filter((run) => run.case === "spacing"));
    expect(
      verdicts.find(({ bar }) => bar.includes("allows no request")),
      spacing,
    ).toMatchObject({ verdict: "pass" });
  });

  it.each([
    [["--scale", "much"], "--scale takes a number"],
    [["--cases", "speed"], '--cases: unknown name "speed"'],
    [["--only", "celery"], '--only: unknown name "celery"'],
  ])("refuses %j, and prints the error and the usage", async (flags, message) => {
    const { status, stderr } = await bench(...flags);

    expect(status).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain("Usage:");
  });
});
