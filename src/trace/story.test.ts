import { expect, it } from "vitest";
import { aPageWrite } from "../../test/contracts/store/page-write.ts";
import type { TracedPage } from "../store/store.ts";
import { tasksOf } from "./story.ts";

it("tells tasks in the order they were leased, those of which nobody knows when last", () => {
  const told = tasksOf([aPage("1"), aPage("2", 2000), aPage("3"), aPage("4", 1000), aPage("5")], []);

  expect(told.map(({ taskId }) => taskId)).toEqual(["4", "2", "1", "3", "5"]);
});

function aPage(taskId: string, leasedAt?: number): TracedPage {
  const { page, ...write } = aPageWrite({ taskId });
  const run = leasedAt === undefined ? undefined : aRun(leasedAt);
  return { ...page, ...write, id: Number(taskId), records: 0, invalid: 0, unchanged: false, run };
}

function aRun(leasedAt: number) {
  return { worker: "w", step: "fetch" as const, attempt: 1, leasedAt, endedAt: leasedAt + 1 };
}
