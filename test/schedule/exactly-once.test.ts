/**
 * Three schedulers crash at random calls during ten minutes around a clock change: every occurrence of 100 schedules
 * fires once.
 */
import { describe, expect, it } from "vitest";
import { newFolder } from "../e2e/folder.ts";
import { judgeWorld } from "./judge-world.ts";
import { runWorld } from "./world.ts";

const MINUTE = 60_000;
const FALL = Date.UTC(2026, 9, 25, 1);
const SPRING = Date.UTC(2027, 2, 28, 1);
/** On a busy machine one simulation takes a minute. */
const TIMEOUT_MS = 300_000;
const seedOfToday = Number(process.env.TRAWL_SEED ?? Math.floor(Math.random() * 1_000_000));

describe("schedulers that crash", () => {
  it.each([
    ["back", FALL, seedOfToday],
    ["forward", SPRING, seedOfToday],
  ])(
    "fire every occurrence exactly once where clocks go %s at %d, seed %d",
    async (_, change, seed) => {
      const [startAt, lastsMs] = [change - 5 * MINUTE - 500, 10 * MINUTE];

      const outcome = await runWorld({ folder: newFolder(), seed, schedulers: 3, schedules: 100, startAt, lastsMs });

      const { problems, ...sums } = judgeWorld(outcome, startAt, startAt + lastsMs);
      console.log(`seed ${seed}: ${JSON.stringify({ ...sums, ...outcome.faults })}`);
      expect(problems).toEqual([]);
      expect(sums.fired).toBeGreaterThan(500);
      expect(sums.missed).toBeGreaterThan(10);
      expect(sums.overlapped).toBeGreaterThan(10);
      // The counts depend on the seed. Each must occur, or the test proves nothing.
      expect(Math.min(...Object.values(outcome.faults))).toBeGreaterThan(2);
    },
    TIMEOUT_MS,
  );
});
