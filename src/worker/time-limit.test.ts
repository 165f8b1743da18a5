import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { isOverTime, withinTimeLimit } from "./time-limit.ts";

async function untilAborted(signal: AbortSignal): Promise<AbortSignal> {
  if (!signal.aborted) await once(signal, "abort");
  return signal;
}

describe("the time limit of a task", () => {
  it("aborts its signal with a reason that says so", async () => {
    const signal = await withinTimeLimit(1, new AbortController().signal, untilAborted);

    expect(isOverTime(signal)).toBe(true);
    expect(signal.reason.message).toBe("the task took longer than its limit of 1ms");
  });

  it("passes on that the task is to end for another reason, which is not the limit", async () => {
    const outer = new AbortController();
    const running = withinTimeLimit(60_000, outer.signal, untilAborted);
    outer.abort(new Error("the worker is stopping"));

    const signal = await running;
    expect(signal.reason).toBe(outer.signal.reason);
    expect(isOverTime(signal)).toBe(false);
    expect((await withinTimeLimit(60_000, outer.signal, untilAborted)).reason).toBe(outer.signal.reason);
  });

  it("is nothing at all where there is none", async () => {
    const outer = new AbortController().signal;
    expect(await withinTimeLimit(Number.POSITIVE_INFINITY, outer, async (signal) => signal)).toBe(outer);
  });

  it("gives what the task gives, and throws what it throws", async () => {
    const { signal } = new AbortController();
    expect(await withinTimeLimit(60_000, signal, async () => 7)).toBe(7);
    await expect(withinTimeLimit(60_000, signal, async () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  });
});
