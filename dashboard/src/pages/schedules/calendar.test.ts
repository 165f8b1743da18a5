import { expect, it } from "vitest";
import { weekOf } from "./calendar.tsx";

it("groups runs by local day and lists frequent schedules separately", () => {
  const now = new Date(2026, 10, 16, 15, 0).getTime();
  const at = (day: number, hour: number) => new Date(2026, 10, day, hour).toISOString();
  const daily = { id: "s1", name: "daily", runs: [at(17, 6), at(18, 6), at(23, 6)], more: false };
  const evening = { id: "s2", name: "evening", runs: [at(16, 23), at(17, 0)], more: false };
  const often = { id: "s3", name: "often", runs: [at(16, 16)], more: true };

  const week = weekOf([daily, evening, often], now);

  expect(week.days.map(({ runs }) => runs.map(({ name }) => name))).toEqual([
    ["evening"],
    ["evening", "daily"],
    ["daily"],
    ...[[], [], [], []],
  ]);
  expect(week.frequent).toEqual([often]);
});
