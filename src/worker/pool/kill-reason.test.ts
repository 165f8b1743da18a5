import { describe, expect, it } from "vitest";
import { findKillReason } from "./kill-reason.ts";

const NOW = 1_000_000;
const LIMITS = { timeLimitMs: 10_000, maxMemoryMb: 200, stuckMs: 40_000 };
const HEALTHY = { lastMessageAt: NOW - 900, rssMb: 150, underWay: [waits(9_000)] };
const LATE = [waits(500), waits(10_001)];

describe("a worker process under supervision", () => {
  it("is not killed within its limits", () => {
    expect(findKillReason(HEALTHY, LIMITS, NOW)).toBeUndefined();
  });

  it("is not killed while it is silent and its tasks have time left, or it has none", () => {
    expect(findKillReason({ ...HEALTHY, lastMessageAt: NOW - 9_000 }, LIMITS, NOW)).toBeUndefined();
    expect(findKillReason({ ...HEALTHY, lastMessageAt: NOW - 90_000, underWay: [] }, LIMITS, NOW)).toBeUndefined();
  });

  it("is not killed while it sends messages: a late task then waits for the broker", () => {
    expect(findKillReason({ ...HEALTHY, underWay: LATE }, LIMITS, NOW)).toBeUndefined();
  });

  it("is killed when it is silent and a task is past its time limit", () => {
    expect(findKillReason({ ...HEALTHY, lastMessageAt: NOW - 5_001, underWay: LATE }, LIMITS, NOW)).toBe("time_limit");
  });

  it("is checked by the tasks whose pages it reads, if any: other tasks only wait", () => {
    const silent = { ...HEALTHY, lastMessageAt: NOW - 5_001 };
    expect(findKillReason({ ...silent, underWay: [...LATE, reads(9_000)] }, LIMITS, NOW)).toBeUndefined();
    expect(findKillReason({ ...silent, underWay: [waits(500), reads(10_001)] }, LIMITS, NOW)).toBe("time_limit");
  });

  it("is killed before its leases expire, whatever the time limits of its tasks", () => {
    const slow = { ...LIMITS, timeLimitMs: Number.POSITIVE_INFINITY };
    expect(findKillReason({ ...HEALTHY, lastMessageAt: NOW - 40_000 }, slow, NOW)).toBeUndefined();
    expect(findKillReason({ ...HEALTHY, lastMessageAt: NOW - 40_001 }, slow, NOW)).toBe("stuck");
  });

  it("is killed above twice its memory limit, and not before", () => {
    expect(findKillReason({ ...HEALTHY, rssMb: 400 }, LIMITS, NOW)).toBeUndefined();
    expect(findKillReason({ ...HEALTHY, rssMb: 401 }, LIMITS, NOW)).toBe("memory");
  });

  it("is never killed without limits while it sends messages", () => {
    const none = { ...LIMITS, timeLimitMs: Number.POSITIVE_INFINITY, maxMemoryMb: Number.POSITIVE_INFINITY };
    expect(findKillReason({ lastMessageAt: NOW, rssMb: 1e6, underWay: [reads(NOW)] }, none, NOW)).toBeUndefined();
  });
});

function waits(forMs: number) {
  return { beganAt: NOW - forMs, isReading: false };
}

function reads(forMs: number) {
  return { beganAt: NOW - forMs, isReading: true };
}
