import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { measure } from "./measure.mjs";

const never = new AbortController().signal;
const BURN = "while (process.cpuUsage().user < 300_000);";
let scratch;

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), "bench-test-"));
});
afterEach(() => rm(scratch, { recursive: true }));

function run(source, { timeoutMs = 30_000, signal = never } = {}) {
  const command = { command: process.execPath, args: ["-e", source], cwd: scratch, env: process.env };
  return measure(command, { scratch, timeoutMs, signal });
}

describe.skipIf(process.platform !== "linux")("measuring a process tree", () => {
  it("charges the CPU of a process and of its children", async () => {
    const { cost } = await run(`
      require("node:child_process").execFileSync(process.execPath, ["-e", ${JSON.stringify(BURN)}]);
      ${BURN}`);

    expect(cost.userS).toBeGreaterThanOrEqual(0.6);
  });

  it("reports the peak of memory that was released before the end", async () => {
    // During the pause, at least one sample is taken. The high-water mark does not fall in this time.
    const { peakRssBytes } = await run(
      `let bytes = Buffer.alloc(200_000_000, 1); bytes = undefined; setTimeout(() => {}, 500)`,
    );

    expect(peakRssBytes).toBeGreaterThan(200_000_000);
    expect(peakRssBytes).toBeLessThan(400_000_000);
  });

  it("returns the exit code, stdout and stderr separately", async () => {
    const outcome = await run(`console.log("out"); console.error("err"); process.exitCode = 7`);

    expect(outcome).toMatchObject({ exitCode: 7, stdout: "out\n", stderr: "err\n", wasKilled: false });
  });

  it("kills a command that runs too long, and returns no figures", async () => {
    const outcome = await run("setInterval(() => {}, 1000)", { timeoutMs: 300 });

    expect(outcome).toMatchObject({ wasKilled: true, cost: undefined });
  });

  it("kills a command when its caller aborts, and returns no figures", async () => {
    const aborter = new AbortController();
    const running = run("setInterval(() => {}, 1000)", { signal: aborter.signal });
    aborter.abort();

    expect(await running).toMatchObject({ wasKilled: true, cost: undefined });
  });
});
