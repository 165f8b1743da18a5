/** The benchmark itself still works: every case runs at a hundredth of its size, without BullMQ, which has to be installed. */
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { findProgram } from "../../test/services/debian-programs.mjs";
import { ROOT } from "../harness/contestants.mjs";

const SCRIPT = join(ROOT, "scripts/bench-frontier.mjs");
const isPossible = findProgram("redis-server") !== undefined;
if (!isPossible) console.warn("SKIPPED: the benchmark of the frontier: there is no redis-server");

function bench(...flags) {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [SCRIPT, ...flags], (_, stdout, stderr) => {
      resolve({ status: child.exitCode, stdout, stderr });
    });
  });
}

describe.skipIf(!isPossible)("the benchmark of the frontier", () => {
  it("measures every case and writes what it found", async () => {
    const folder = mkdtempSync(join(tmpdir(), "trawl-bench-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const json = join(folder, "result.json");

    const { status, stdout, stderr } = await bench(
      ...["--source", "--scale", "0.01", "--rounds", "1", "--only", "trawl,zset", "--json", json],
    );

    expect(status, `${stdout}\n${stderr}`).toBe(0);
    const { runs, verdicts } = JSON.parse(readFileSync(json, "utf8"));
    expect(new Set(runs.map((run) => run.case))).toEqual(
      new Set(["enqueue", "drain", "latency", "first-byte", "memory", "growth", "sites", "spacing", "idle"]),
    );
    expect(runs.filter(({ figures }) => figures === undefined)).toEqual([]);
    const spacing = JSON.stringify(runs.filter((run) => run.case === "spacing"));
    expect(
      verdicts.find(({ bar }) => bar.includes("may not be hit")),
      spacing,
    ).toMatchObject({ verdict: "pass" });
  });

  it.each([
    [["--scale", "much"], "--scale wants a number"],
    [["--cases", "speed"], '--cases: there is no "speed"'],
    [["--only", "celery"], '--only: there is no "celery"'],
  ])("refuses %j with what is wrong and how it is used", async (flags, words) => {
    const { status, stderr } = await bench(...flags);

    expect(status).toBe(2);
    expect(stderr).toContain(words);
    expect(stderr).toContain("Usage:");
  });
});
