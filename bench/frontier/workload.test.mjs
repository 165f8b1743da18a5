import { describe, expect, it } from "vitest";
import { BATCH, makeTasks, submitAll, submitRange } from "./workload.mjs";

describe("the workload", () => {
  it("makes distinct URLs of 60 characters, spread over the sites", () => {
    const tasks = makeTasks({ count: 1_000, sites: 10, first: 4_999_500 });

    expect(new Set(tasks.map(({ url }) => url)).size).toBe(1_000);
    expect(tasks.every(({ url, site }) => url.length === 60 && new URL(url).host === site)).toBe(true);
    expect(new Set(tasks.slice(0, 10).map(({ site }) => site)).size).toBe(10);
  });

  it("submits every task once, in batches, and adds up the accepted tasks", async () => {
    const batches = [];
    const accepted = await submitAll(makeTasks({ count: 2_100, sites: 10 }), async (batch) => {
      batches.push(batch);
      return batch.length;
    });

    expect(accepted).toBe(2_100);
    expect(batches.map(({ length }) => length)).toEqual([BATCH, BATCH, BATCH, BATCH, 100]);
    expect(new Set(batches.flat().map(({ url }) => url)).size).toBe(2_100);
  });

  it("stops when a URL that must be new was not accepted", async () => {
    await expect(submitRange({ from: 0, to: 10, sites: 2 }, async () => 9)).rejects.toThrow("9 of 10 new URLs");
  });
});
