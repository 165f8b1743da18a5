import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { endTestRun, findProcesses } from "./test-run.mjs";

const ROOT = resolve(import.meta.dirname, "../..");
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");
const PATH = process.env.PATH ?? "";

/** Runs a shell script. The processes that it starts in the background keep running. */
function runShell(script: string, options: { cwd?: string; env?: Record<string, string> } = {}): void {
  const { cwd = "/", env = { PATH } } = options;
  spawnSync("/bin/sh", ["-c", script], { cwd, env, stdio: "ignore" });
}

function commandsOf(folder: string): string[] {
  return findProcesses(folder).map(({ command }) => command);
}

describe.skipIf(process.platform !== "linux")("the processes of a test run", () => {
  const CASES: Record<string, (folder: string) => void> = {
    "the environment": (folder) => runShell("sleep 300 &", { env: { PATH, TMPDIR: folder } }),
    "the working directory": (folder) => runShell("sleep 300 &", { cwd: folder }),
    "the command line": (folder) => runShell(`sh -c 'sleep 300; :' ${folder} &`),
  };

  it.each(Object.entries(CASES))("are found by %s, and killed", async (_by, start) => {
    const folder = mkdtempSync(join(tmpdir(), "left-"));
    start(folder);
    // The shell returns before the program runs, and a process that is just starting its program has no command line.
    await expect.poll(() => commandsOf(folder)).toContain("sleep 300");

    const lines = await endTestRun(folder, { graceMs: 0 });

    expect(lines[0]).toMatch(/sleep 300.* \(pid \d+, started by an unknown test\)$/);
    expect(findProcesses(folder)).toEqual([]);
    expect(existsSync(folder)).toBe(false);
  });

  it("are found by their parent and by the leader of their group", async () => {
    const folder = mkdtempSync(join(tmpdir(), "left-"));
    // A leader in the folder. Its child has left the folder and has an empty environment.
    runShell("setsid sh -c 'cd / && env -i sleep 300 & exec sleep 301' &", { cwd: folder });

    await expect.poll(() => commandsOf(folder)).toEqual(expect.arrayContaining(["sleep 300", "sleep 301"]));
    await endTestRun(folder, { graceMs: 0 });

    expect(commandsOf(folder)).toEqual([]);
  });

  it("have time to end by themselves", async () => {
    const folder = mkdtempSync(join(tmpdir(), "left-"));
    runShell("sleep 0.3 &", { cwd: folder });

    expect(await endTestRun(folder)).toEqual([]);
  });

  it.concurrent("fail their test file if they outlive it", async ({ expect }) => {
    const { code, stderr } = await vitest("file");

    expect(stderr).toMatch(/processes outlived the tests of this file/);
    expect(stderr).toMatch(/^ *sleep 300 \(pid \d+, started by test\/services\/leaky\/file\.leaky\.ts\)/m);
    expect(code).toBe(1);
  });

  it.concurrent("fail the run if their file does not find them", async ({ expect }) => {
    const { code, stdout, stderr } = await vitest("run");

    expect(stdout).toContain("1 passed");
    expect(stderr).toMatch(/FAILED: processes outlived .*\n {2}sleep 300 \(pid \d+, started by an unknown test\)/);
    expect(code).toBe(1);
  });
});

/** Runs one test file of leaky/ in a separate test run. */
function vitest(name: string): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const { TMPDIR: _, NO_COLOR: __, FORCE_COLOR: ___, ...env } = process.env;
  const args = [VITEST, "run", "--config", "test/services/leaky/vitest.config.ts", name];
  return new Promise((resolve) => {
    const options = { cwd: ROOT, env: { ...env, NO_COLOR: "1" } };
    const child = execFile(process.execPath, args, options, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, stdout, stderr });
    });
  });
}
