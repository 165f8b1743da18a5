import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

type Options = { readCount(flag: string, text: string, least?: number): number };
const { readCount } = (await import(new URL("options.mjs", import.meta.url).href)) as Options;

describe("options of scripts", () => {
  it("accept whole numbers, and name the flag of any other value", () => {
    expect([readCount("--rounds", "3"), readCount("--kills", "0", 0)]).toEqual([3, 0]);
    for (const text of ["0", "-1", "1.5", "", "ten", "1e3"]) {
      expect(() => readCount("--rounds", text)).toThrow(`--rounds takes a whole number, 1 or more, not "${text}"`);
    }
  });

  it.each(["bench", "bench-frontier", "broker-loss", "chaos", "chaos-fleet", "noisy-neighbour", "profile"])(
    "%s exits with 2 and prints its usage for an unknown flag",
    (name) => {
      const script = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
      const { status, stderr } = spawnSync(process.execPath, [script, "--nonsense"], { encoding: "utf8" });

      expect([status, stderr]).toEqual([2, expect.stringMatching(/--nonsense[\s\S]*\n\nUsage: /)]);
    },
  );
});
