import { expect, it } from "vitest";
import { createManualClock } from "../../../test/model/manual-clock.ts";
import { createDemand } from "./demand.ts";

it("a worker holds twice as many tasks with every call, until it starts some of them late", () => {
  const clock = createManualClock(0);
  const demand = createDemand(clock, { concurrency: 10 });
  expect([demand.most(false), demand.most(false), demand.most(false)]).toEqual([20, 40, 80]);

  for (let nth = 0; nth < 300; nth++) demand.started();
  clock.advance(1000);
  expect(demand.most(true)).toBe(600);
  expect(demand.most(false)).toBe(1200);
});

it("a worker holds at least as many tasks as it can run at once, and at most 4,000", () => {
  const demand = createDemand(createManualClock(0), { concurrency: 10 });
  expect(demand.most(true)).toBe(10);
  for (let nth = 0; nth < 20; nth++) demand.most(false);
  expect(demand.most(false)).toBe(4000);
});
