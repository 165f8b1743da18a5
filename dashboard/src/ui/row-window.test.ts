import { expect, it } from "vitest";
import { sorted, visibleRows } from "./row-window.ts";

it("returns the visible rows and a few beyond, for any number of rows", () => {
  const { first, last } = visibleRows(36 * 50_000, 720, 36, 100_000);

  expect(first).toBeLessThanOrEqual(50_000);
  expect(last).toBeGreaterThanOrEqual(50_020);
  expect(last - first).toBeLessThan(50);
  expect(visibleRows(0, 720, 36, 3)).toEqual({ first: 0, last: 3 });
  expect(visibleRows(36 * 99_990, 720, 36, 100_000).last).toBe(100_000);
  // Rows were removed while the user had scrolled far down.
  expect(visibleRows(36 * 5_000, 720, 36, 10)).toMatchObject({ last: 10 });
});

it("sorts unknown values last in both directions and keeps the order of equal rows", () => {
  const rows = [{ n: 2 }, { n: null }, { n: 1 }, { n: 2, second: true }];
  const order = (isDown: boolean) => sorted(rows, ({ n }) => n, isDown).map((row) => rows.indexOf(row));

  expect(order(false)).toEqual([2, 0, 3, 1]);
  expect(order(true)).toEqual([0, 3, 2, 1]);
  expect(sorted(["b", "A", "c"], (text) => text, false)).toEqual(["A", "b", "c"]);
});
