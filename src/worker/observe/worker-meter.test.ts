import { describe, expect, it } from "vitest";
import type { Attempt } from "./task-observer.ts";
import { createWorkerMeter } from "./worker-meter.ts";

describe("the metrics of a worker", () => {
  it("count blocks by their name, and the steps after them", () => {
    const { observer, snapshot } = createWorkerMeter();
    const attempt = {} as Attempt; // not read
    const times = { startedAt: 0, endedAt: 10 };
    for (const block of ["akamai", "akamai", "status 403"] as const) {
      const outcome = { kind: "retry", because: "blocked", status: 403, detail: "", block } as const;
      observer.fetched?.(attempt, { step: "fetch", outcome, ...times });
    }
    observer.fetched?.(attempt, {
      ...{ step: "fetch", ...times },
      outcome: { kind: "dead", because: "http_status", status: 403, detail: "" },
    });
    observer.steppedAfterBlock?.(attempt, "session");
    observer.steppedAfterBlock?.(attempt, "fail");

    const counts = snapshot({ inFlight: 0, concurrency: 1 });
    const countsOf = (name: string) =>
      Object.fromEntries((counts[name] ?? []).map(([[label = ""], [count]]) => [label, count]).filter(([, n]) => n));
    expect(countsOf("trawl_blocks_total")).toEqual({ akamai: 2, "status 403": 1 });
    expect(countsOf("trawl_block_steps_total")).toEqual({ session: 1, fail: 1 });
  });
});
