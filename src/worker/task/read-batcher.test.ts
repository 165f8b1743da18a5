import { setImmediate } from "node:timers/promises";
import { beforeEach, describe, expect, it } from "vitest";
import { createManualClock, type ManualClock } from "../../../test/model/manual-clock.ts";
import { createReadBatcher, type ReadBatcher } from "./read-batcher.ts";

describe("a read batcher", () => {
  let clock: ManualClock;
  let batcher: ReadBatcher;
  let spareMs: number;
  let read: string[];

  beforeEach(() => {
    clock = createManualClock(0);
    read = [];
    batcher = createReadBatcher({ pacer: { spareMs: () => spareMs }, clock });
  });

  function wait(taskId: string): void {
    void batcher.turn({ taskId, token: 1 })?.then(() => read.push(taskId));
  }

  async function advance(ms: number): Promise<void> {
    clock.advance(ms);
    await setImmediate();
  }

  it("does not delay a page whose task has little time to spare", () => {
    spareMs = 4;
    expect(batcher.turn({ taskId: "1", token: 1 })).toBeUndefined();
  });

  it("lets pages wait until the first of them has no time left", async () => {
    spareMs = 80;
    wait("1");
    await advance(10);
    spareMs = 20;
    wait("2");
    await advance(19);
    expect(read).toEqual([]);
    await advance(1);
    await setImmediate();
    expect(read).toEqual(["1", "2"]);
  });

  it("lets no page wait longer than 100 ms, and starts a new batch after one", async () => {
    spareMs = 5_000;
    wait("1");
    await advance(100);
    expect(read).toEqual(["1"]);
    wait("2");
    await advance(99);
    expect(read).toEqual(["1"]);
    await advance(1);
    expect(read).toEqual(["1", "2"]);
  });

  it("opens a batch of 32 pages at once, and releases one page per turn of the event loop", async () => {
    spareMs = 100;
    for (let page = 1; page <= 32; page++) wait(String(page));
    await Promise.resolve();
    expect(read).toEqual(["1"]);
    for (let turn = 0; turn < 32; turn++) await setImmediate();
    expect(read).toHaveLength(32);
  });
});
