import { expect, it } from "vitest";
import { anAttemptWrite, aPageWrite } from "../../test/contracts/store/page-write.ts";
import type { TracedPage } from "../store/store.ts";
import { type Timeline, tasksOf } from "./timeline.ts";
import { timelineLines } from "./timeline-lines.ts";

it("sorts tasks by their first lease, and puts tasks without a known time last", () => {
  const tasks = tasksOf([aPage("1"), aPage("2", 2000), aPage("3"), aPage("4", 1000), aPage("5")], []);

  expect(tasks.map(({ taskId }) => taskId)).toEqual(["4", "2", "1", "3", "5"]);
});

it("shows a replay as soon as a failed task waits again, but not after a failure that the broker refused as late", () => {
  const kindsOf = (state: Timeline["state"], outcomes: readonly ("dead" | "retry")[], attempts: readonly number[]) => {
    const writes = outcomes.map((outcome, nth) =>
      anAttemptWrite({ token: nth + 1, outcome, run: { ...aRun(nth), attempt: attempts[nth] ?? 1 } }),
    );
    const job = { createdAt: 0, queue: "fetch", state: "running" } as Timeline["job"];
    const timeline = {
      url: "u",
      job,
      requestId: undefined,
      tasks: tasksOf([], writes),
      state,
      waits: [],
      isKept: true,
    };
    return timelineLines(timeline, "all").map(({ kind }) => kind);
  };

  expect(kindsOf("queued", ["dead"], [1])).toEqual(["submitted", "leased", "dead", "replayed"]);
  expect(kindsOf("dead", ["dead"], [1])).toEqual(["submitted", "leased", "dead"]);
  expect(kindsOf("dead", ["dead", "dead"], [3, 3])).not.toContain("replayed");
  expect(kindsOf("dead", ["dead", "retry", "dead"], [3, 1, 2]).join(" ")).toBe(
    "submitted leased dead replayed leased failed leased dead",
  );
});

function aPage(taskId: string, leasedAt?: number): TracedPage {
  const { page, ...write } = aPageWrite({ taskId });
  const run = leasedAt === undefined ? undefined : aRun(leasedAt);
  return { ...page, ...write, id: Number(taskId), records: 0, invalid: 0, unchanged: false, run };
}

function aRun(leasedAt: number) {
  return { worker: "w", step: "fetch" as const, attempt: 1, leasedAt, endedAt: leasedAt + 1 };
}
