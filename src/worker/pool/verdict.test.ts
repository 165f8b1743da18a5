import { describe, expect, it } from "vitest";
import { judgeChild } from "./verdict.ts";

const NOW = 1_000_000;
const LIMITS = { timeLimitMs: 10_000, maxMemoryMb: 200 };
const HEALTHY = { heardAt: NOW - 900, rssMb: 150, underWay: [{ beganAt: NOW - 9_000 }] };
const LATE = [{ beganAt: NOW - 500 }, { beganAt: NOW - 10_001 }];

describe("a worker process", () => {
  it("may live while it keeps its limits", () => {
    expect(judgeChild(HEALTHY, LIMITS, NOW)).toBeUndefined();
  });

  it("may live while it is silent with tasks that have time left, or with none", () => {
    expect(judgeChild({ ...HEALTHY, heardAt: NOW - 9_000 }, LIMITS, NOW)).toBeUndefined();
    expect(judgeChild({ ...HEALTHY, heardAt: NOW - 90_000, underWay: [] }, LIMITS, NOW)).toBeUndefined();
  });

  it("may live while it talks: a task that is late then waits for the broker", () => {
    expect(judgeChild({ ...HEALTHY, underWay: LATE }, LIMITS, NOW)).toBeUndefined();
  });

  it("is killed when it is stuck in a task that is over its time", () => {
    expect(judgeChild({ ...HEALTHY, heardAt: NOW - 2_001, underWay: LATE }, LIMITS, NOW)).toBe("time_limit");
  });

  it("is killed at twice its memory, and not before", () => {
    expect(judgeChild({ ...HEALTHY, rssMb: 400 }, LIMITS, NOW)).toBeUndefined();
    expect(judgeChild({ ...HEALTHY, rssMb: 401 }, LIMITS, NOW)).toBe("memory");
  });

  it("may do anything without limits", () => {
    const none = { timeLimitMs: Number.POSITIVE_INFINITY, maxMemoryMb: Number.POSITIVE_INFINITY };
    expect(judgeChild({ heardAt: 0, rssMb: 1e6, underWay: [{ beganAt: 0 }] }, none, NOW)).toBeUndefined();
  });
});
