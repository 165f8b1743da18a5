import { describe, expect, it } from "vitest";
import { judgeChild } from "./verdict.ts";

const NOW = 1_000_000;
const LIMITS = { timeLimitMs: 10_000, maxMemoryMb: 200, stuckMs: 40_000 };
const HEALTHY = { heardAt: NOW - 900, rssMb: 150, underWay: [waits(9_000)] };
const LATE = [waits(500), waits(10_001)];

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
    expect(judgeChild({ ...HEALTHY, heardAt: NOW - 5_001, underWay: LATE }, LIMITS, NOW)).toBe("time_limit");
  });

  it("is judged by the pages it reads, where it reads any: the others only wait", () => {
    const silent = { ...HEALTHY, heardAt: NOW - 5_001 };
    expect(judgeChild({ ...silent, underWay: [...LATE, reads(9_000)] }, LIMITS, NOW)).toBeUndefined();
    expect(judgeChild({ ...silent, underWay: [waits(500), reads(10_001)] }, LIMITS, NOW)).toBe("time_limit");
  });

  it("is killed before it loses its leases, whatever time its tasks have", () => {
    const slow = { ...LIMITS, timeLimitMs: Number.POSITIVE_INFINITY };
    expect(judgeChild({ ...HEALTHY, heardAt: NOW - 40_000 }, slow, NOW)).toBeUndefined();
    expect(judgeChild({ ...HEALTHY, heardAt: NOW - 40_001 }, slow, NOW)).toBe("stuck");
  });

  it("is killed at twice its memory, and not before", () => {
    expect(judgeChild({ ...HEALTHY, rssMb: 400 }, LIMITS, NOW)).toBeUndefined();
    expect(judgeChild({ ...HEALTHY, rssMb: 401 }, LIMITS, NOW)).toBe("memory");
  });

  it("may take all time and memory without limits, as long as it is heard", () => {
    const none = { ...LIMITS, timeLimitMs: Number.POSITIVE_INFINITY, maxMemoryMb: Number.POSITIVE_INFINITY };
    expect(judgeChild({ heardAt: NOW, rssMb: 1e6, underWay: [reads(NOW)] }, none, NOW)).toBeUndefined();
  });
});

function waits(forMs: number) {
  return { beganAt: NOW - forMs, isReading: false };
}

function reads(forMs: number) {
  return { beganAt: NOW - forMs, isReading: true };
}
