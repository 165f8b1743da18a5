import { expect, it } from "vitest";
import { rowsInView, sorted } from "./window.ts";

it("draws what is in view and some rows beyond, of any number of rows", () => {
  const { first, last } = rowsInView(36 * 50_000, 720, 36, 100_000);

  expect(first).toBeLessThanOrEqual(50_000);
  expect(last).toBeGreaterThanOrEqual(50_020);
  expect(last - first).toBeLessThan(50);
  expect(rowsInView(0, 720, 36, 3)).toEqual({ first: 0, last: 3 });
  expect(rowsInView(36 * 99_990, 720, 36, 100_000).last).toBe(100_000);
  // Rows were taken away while one was far down.
  expect(rowsInView(36 * 5_000, 720, 36, 10)).toMatchObject({ last: 10 });
});

it("sorts by what a column says, unknown last either way, and leaves equals in their order", () => {
  const rows = [{ n: 2 }, { n: null }, { n: 1 }, { n: 2, second: true }];
  const order = (isDown: boolean) => sorted(rows, ({ n }) => n, isDown).map((row) => rows.indexOf(row));

  expect(order(false)).toEqual([2, 0, 3, 1]);
  expect(order(true)).toEqual([0, 3, 2, 1]);
  expect(sorted(["b", "A", "c"], (word) => word, false)).toEqual(["A", "b", "c"]);
});
