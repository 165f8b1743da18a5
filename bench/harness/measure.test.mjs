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

  it("sees the peak of memory that was given back before the end", async () => {
    // The pause is what the sampler needs to look at least once; a high-water mark does not fall meanwhile.
    const { peakRssBytes } = await run(
      `let bytes = Buffer.alloc(200_000_000, 1); bytes = undefined; setTimeout(() => {}, 500)`,
    );

    expect(peakRssBytes).toBeGreaterThan(200_000_000);
    expect(peakRssBytes).toBeLessThan(400_000_000);
  });

  it("hands back the exit code and both streams, unmixed", async () => {
    const outcome = await run(`console.log("out"); console.error("err"); process.exitCode = 7`);

    expect(outcome).toMatchObject({ exitCode: 7, stdout: "out\n", stderr: "err\n", wasCutOff: false });
  });

  it("cuts off what runs too long, with no figures", async () => {
    const outcome = await run("setInterval(() => {}, 1000)", { timeoutMs: 300 });

    expect(outcome).toMatchObject({ wasCutOff: true, cost: undefined });
  });

  it("cuts off what runs when its caller gives up", async () => {
    const givingUp = new AbortController();
    const running = run("setInterval(() => {}, 1000)", { signal: givingUp.signal });
    givingUp.abort();

    expect(await running).toMatchObject({ wasCutOff: true, cost: undefined });
  });
});
