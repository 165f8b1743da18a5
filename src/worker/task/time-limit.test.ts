import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { isOverTime, withinTimeLimit } from "./time-limit.ts";

async function untilAborted(signal: AbortSignal): Promise<AbortSignal> {
  if (!signal.aborted) await once(signal, "abort");
  return signal;
}

describe("the time limit of a task", () => {
  it("aborts the signal of the task, with the limit as the reason", async () => {
    const signal = await withinTimeLimit(1, new AbortController(), untilAborted);

    expect(isOverTime(signal)).toBe(true);
    expect(signal.reason.message).toBe("the task took longer than its limit of 1ms");
  });

  it("keeps another reason for the abort", async () => {
    const abort = new AbortController();
    const running = withinTimeLimit(60_000, abort, untilAborted);
    abort.abort(new Error("the worker is stopping"));

    expect(isOverTime(await running)).toBe(false);
  });

  it("passes the signal on unchanged if the limit is Infinity", async () => {
    const abort = new AbortController();
    expect(await withinTimeLimit(Number.POSITIVE_INFINITY, abort, async (signal) => signal)).toBe(abort.signal);
  });

  it("resolves or rejects as the task does", async () => {
    const abort = new AbortController();
    expect(await withinTimeLimit(60_000, abort, async () => 7)).toBe(7);
    await expect(withinTimeLimit(60_000, abort, async () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  });
});
