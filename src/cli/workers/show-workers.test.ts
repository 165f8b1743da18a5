import { describe, expect, it } from "vitest";
import type { Vitals } from "../../frontier/frontier.ts";
import type { WorkerView } from "../../frontier/frontier-admin.ts";
import { workersJson, workersText } from "./show-workers.ts";

const NOW = 1_750_000_000_000;

function aWorker(worker: string, vitals?: Partial<Vitals>, parts: Partial<WorkerView> = {}): WorkerView {
  const usual = { concurrency: 32, busy: 4, done: 1200, failed: 3, rssBytes: 123_400_000, upMs: 7_200_000 };
  const seenAt = NOW - 2_000;
  const view = { worker, queues: ["fetch"], unknownSpiders: [], version: "1.0.0", seenAt, ...parts };
  return vitals === undefined ? view : { ...view, vitals: { ...usual, ...vitals } };
}

describe("the table of workers", () => {
  it("fits 80 columns with long names and many queues", () => {
    const queues = Array.from({ length: 20 }, (_, nth) => `queue_number_${nth}`);
    const text = workersText(
      [
        aWorker(
          "trawl-worker-7d9f8b6c5-x2x4z.cluster.internal/123456/1/2",
          { done: 123_456_789, failed: 99_999 },
          { queues },
        ),
        aWorker("b/1/1/1", { supervisor: "b/77/1/1" }, { queues }),
        aWorker("old/1/1/1"),
      ],
      NOW,
      80,
    );

    for (const line of text.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(text).toMatch(/queue_\w*…/);
  });

  it("lists processes below their supervisor, with totals", () => {
    const members = ["b/2/1/1", "b/3/1/1"].map((name) => aWorker(name, { supervisor: "b/77/1/1" }));

    expect(workersText([aWorker("a/1/1/1", {}), ...members], NOW, 80)).toBe(
      [
        "WORKER  BUSY   DONE  FAILED    MEMORY  UP    SEEN  QUEUES",
        "a/1     4/32  1,200       3  123.4 MB  2h  2s ago  fetch",
        "b/77",
        "  2     4/32  1,200       3  123.4 MB  2h  2s ago  fetch",
        "  3     4/32  1,200       3  123.4 MB  2h  2s ago  fetch",
        "",
        "3 workers on 2 machines, 370.2 MB",
        "12 of 96 tasks running, 3,600 done, 9 failed",
        "",
      ].join("\n"),
    );
  });

  it("shows which workers are draining and which have not received a command yet", () => {
    const text = workersText(
      [
        aWorker("a/1/1/1", { state: "draining", busy: 3 }, { command: "drain-all" }),
        aWorker("b/1/1/1", { state: "working" }, { command: "recycle" }),
        aWorker("c/1/1/1", { state: "draining", busy: 1 }),
      ],
      NOW,
      80,
    );

    expect(text).toContain("\na/1: drain requested: draining, 3 tasks left\n");
    expect(text).toContain("\nb/1: recycle requested: not received yet\n");
    expect(text).toContain("\nc/1: draining, 1 task left\n");
  });

  it("shows different versions, and dashes for values that an older worker does not report", () => {
    const text = workersText([aWorker("a/1/1/1", {}), aWorker("b/1/1/1", undefined, { version: "0.9.0" })], NOW, 80);

    expect(text).toMatch(/^b\/1 +- +- +- +- +- +2s ago +fetch$/m);
    expect(text).toContain("the workers run different versions of Trawl: 1 on 0.9.0, 1 on 1.0.0");
  });
});

describe("workers as JSON", () => {
  it("have their host, state and start time, by the broker's clock", () => {
    expect(workersJson([aWorker("a/42/1/1", { supervisor: "a/7/1/1" }), aWorker("odd")])).toMatchObject({
      workers: [
        {
          ...{ worker: "a/42/1/1", host: "a", pid: 42, supervisor: "a/7/1/1", busy: 4, done: 1200, failed: 3 },
          startedAt: new Date(NOW - 7_202_000).toISOString(),
          seenAt: new Date(NOW - 2_000).toISOString(),
        },
        { worker: "odd", host: "odd", busy: null, startedAt: null },
      ],
    });
  });
});
