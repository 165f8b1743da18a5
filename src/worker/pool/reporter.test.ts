import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Grant } from "../../frontier/frontier.ts";
import type { Attempt, SettledAttempt } from "../observe/task-observer.ts";
import type { ChildMessage } from "./messages.ts";
import { createReporter } from "./reporter.ts";

const TALLY = { tasks: 3, pages: 2, records: 1 };

function aReporter() {
  const sent: ChildMessage[] = [];
  const reporter = createReporter({
    send: (message) => void sent.push(message),
    tally: () => TALLY,
    rssMb: () => 99,
    metrics: () => undefined,
  });
  return { reporter, sent };
}

function aGrant(taskId: string): Grant {
  const where = { jobId: "job", url: `https://a.test/${taskId}`, site: "a.test", kind: "fetch", depth: 0 } as const;
  return {
    taskId,
    token: 4,
    ...where,
    attempt: 1,
    redirects: 0,
    mustFetchRobots: false,
  };
}

function anAttempt(taskId: string, isAlone = false): Attempt {
  return { grant: aGrant(taskId), isAlone, leasedAt: 0, plan: undefined, endedAt: 0 };
}

describe("the reporter of a worker process", () => {
  it("reports all tasks leased in one turn of the event loop in one message", async () => {
    const { reporter, sent } = aReporter();
    reporter.observer.leased?.(anAttempt("1", false));
    reporter.observer.leased?.(anAttempt("2", false));
    expect(sent).toEqual([]);
    await setImmediate();

    const began = ["1", "2"].map((taskId) => {
      const url = `https://a.test/${taskId}`;
      return { jobId: "job", taskId, token: 4, url, step: "fetch", attempt: 1, isAlone: false };
    });
    expect(sent).toEqual([{ kind: "tasks", began, reading: [], ended: [], tally: TALLY }]);
    reporter.observer.ended?.(anAttempt("2"));
    reporter.observer.settled?.(anAttempt("2"), {} as SettledAttempt);
    await setImmediate();
    expect(sent.slice(1)).toEqual([{ kind: "tasks", began: [], reading: [], ended: ["2 4"], tally: TALLY }]);
  });

  it("reports a page before its handler is called", () => {
    const { reporter, sent } = aReporter();
    reporter.observer.leased?.(anAttempt("1", true));
    reporter.observer.reading?.(anAttempt("1"));

    expect(sent).toMatchObject([
      { kind: "tasks", began: [{ taskId: "1", isAlone: true }], reading: ["1 4"], ended: [] },
    ]);
  });

  it("reports its tasks before it reports that it retires", () => {
    const { reporter, sent } = aReporter();
    reporter.observer.leased?.(anAttempt("1", false));
    reporter.retire();

    expect(sent).toMatchObject([{ kind: "tasks", began: [{ taskId: "1" }] }, { kind: "retiring" }]);
  });
});
