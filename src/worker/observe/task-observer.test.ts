import { describe, expect, it } from "vitest";
import type { Grant } from "../../frontier/frontier.ts";
import { type Attempt, combineObservers, type ReadTime } from "./task-observer.ts";

const ATTEMPT: Attempt = { grant: {} as Grant, isAlone: false, leasedAt: 0, plan: undefined, endedAt: 0 };

describe("observers of tasks", () => {
  it("are all notified, in order, with the same attempt", () => {
    const seen: unknown[] = [];
    const time: ReadTime = { startedAt: 1, endedAt: 2 };
    const observer = combineObservers([
      { read: (attempt, detail) => void seen.push(["first", attempt, detail]) },
      {},
      { read: (attempt, detail) => void seen.push(["second", attempt, detail]) },
    ]);
    observer.read?.(ATTEMPT, time);
    expect(seen).toEqual([
      ["first", ATTEMPT, time],
      ["second", ATTEMPT, time],
    ]);
  });

  it("have no cost without subscribers: the event is undefined, and a single subscriber is called directly", () => {
    const ended = () => {};
    const observer = combineObservers([{ ended }, {}]);
    expect(observer.fetched).toBeUndefined();
    expect(observer.trace).toBeUndefined();
    expect(observer.ended).toBe(ended);
  });
});
