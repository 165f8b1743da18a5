/** Lays out rows in columns that fit a width: drops the least important columns, and cuts the last one, the name. */
import { cutTo, type Line, padTo, type TextTone, widthOf } from "./cells.ts";

export type Column<Row> = {
  title: string;
  of(row: Row): string;
  isRight?: true;
  tone?(row: Row): TextTone | undefined;
  /** Columns with the highest value are dropped first; 0 is never dropped. */
  dropOrder: number;
  /** Minimum width, wide enough for later values, so that columns do not appear and disappear between snapshots. */
  least?: number;
};

const GAP = 2;
/** Other columns are dropped before the name gets narrower than this. */
const MIN_NAME = 24;

/** Returns the heading and one line per row. */
export function inColumns<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): Line[] {
  const measured = columns.map((column) => ({
    ...column,
    width: Math.max(
      column.least ?? 0,
      widthOf(column.title),
      ...rows.map((row) => widthOf(cutTo(column.of(row), width))),
    ),
  }));
  const kept = thatFit(measured, width);
  const others = kept.slice(0, -1).reduce((sum, column) => sum + column.width + GAP, 0);
  const widths = kept.map((column, nth) => (nth === kept.length - 1 ? Math.max(0, width - others) : column.width));
  const line = (text: (column: Column<Row>) => string, tone: (column: Column<Row>) => TextTone | undefined): Line =>
    kept.flatMap((column, nth) => {
      const isLast = nth === kept.length - 1;
      const cell = isLast
        ? cutTo(text(column), widths[nth] ?? 0)
        : padTo(text(column), widths[nth] ?? 0, column.isRight === true);
      return [{ text: cell, tone: tone(column) }, ...(isLast ? [] : [{ text: " ".repeat(GAP) }])];
    });
  return [
    line(
      ({ title }) => title,
      () => "dim",
    ),
    ...rows.map((row) =>
      line(
        ({ of }) => of(row),
        ({ tone }) => tone?.(row),
      ),
    ),
  ];
}

function thatFit<C extends { width: number; dropOrder: number }>(columns: readonly C[], width: number): readonly C[] {
  const [last] = columns.slice(-1);
  const needed = columns.slice(0, -1).reduce((sum, column) => sum + column.width + GAP, 0);
  const max = Math.max(...columns.map(({ dropOrder }) => dropOrder));
  if (max === 0 || needed + Math.min(last?.width ?? 0, MIN_NAME) <= width) return columns;
  const out = columns.findLast(({ dropOrder }) => dropOrder === max);
  return thatFit(
    columns.filter((column) => column !== out),
    width,
  );
}
