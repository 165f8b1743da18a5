import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Grant } from "../../frontier/frontier.ts";
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
    slot: { sendAt: 0 } as Grant["slot"],
    mustAskRobots: false,
  };
}

describe("what a worker process reports", () => {
  it("names tasks at the end of the turn they began in, together", async () => {
    const { reporter, sent } = aReporter();
    reporter.watch.began(aGrant("1"), false);
    reporter.watch.began(aGrant("2"), false);
    expect(sent).toEqual([]);
    await setImmediate();

    const began = ["1", "2"].map((taskId) => {
      const url = `https://a.test/${taskId}`;
      return { jobId: "job", taskId, token: 4, url, step: "fetch", attempt: 1, isAlone: false };
    });
    expect(sent).toEqual([{ kind: "tasks", began, reading: [], ended: [], tally: TALLY }]);
    reporter.watch.ended(aGrant("2"));
    reporter.watch.settled();
    await setImmediate();
    expect(sent.slice(1)).toEqual([{ kind: "tasks", began: [], reading: [], ended: ["2 4"], tally: TALLY }]);
  });

  it("names the page that a handler gets next before the handler has it", () => {
    const { reporter, sent } = aReporter();
    reporter.watch.began(aGrant("1"), true);
    reporter.watch.reading(aGrant("1"));

    expect(sent).toMatchObject([
      { kind: "tasks", began: [{ taskId: "1", isAlone: true }], reading: ["1 4"], ended: [] },
    ]);
  });

  it("tells with which tasks it retires before it says that it does", () => {
    const { reporter, sent } = aReporter();
    reporter.watch.began(aGrant("1"), false);
    reporter.retire();

    expect(sent).toMatchObject([{ kind: "tasks", began: [{ taskId: "1" }] }, { kind: "retiring" }]);
  });
});
