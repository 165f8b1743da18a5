import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

type Options = { readCount(flag: string, words: string, least?: number): number };
const { readCount } = (await import(new URL("options.mjs", import.meta.url).href)) as Options;

describe("options of scripts", () => {
  it("are whole numbers, or are refused by name", () => {
    expect([readCount("--rounds", "3"), readCount("--kills", "0", 0)]).toEqual([3, 0]);
    for (const words of ["0", "-1", "1.5", "", "ten", "1e3"]) {
      expect(() => readCount("--rounds", words)).toThrow(`--rounds takes a whole number, 1 or more, not "${words}"`);
    }
  });

  it.each(["bench", "bench-frontier", "broker-loss", "chaos", "chaos-fleet", "noisy-neighbour", "profile"])(
    "that %s does not know end it with 2 and its usage",
    (name) => {
      const script = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
      const { status, stderr } = spawnSync(process.execPath, [script, "--nonsense"], { encoding: "utf8" });

      expect([status, stderr]).toEqual([2, expect.stringMatching(/--nonsense[\s\S]*\n\nUsage: /)]);
    },
  );
});
