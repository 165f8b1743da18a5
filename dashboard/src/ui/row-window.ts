/** Which rows of a long table are visible, and the sort order. */

type RowRange = { first: number; last: number };

/** Rows rendered above and below the visible ones, so that scrolling shows no gaps. */
const OVERSCAN = 8;
/** The range moves in steps of this many rows, so that scrolling does not re-render on every pixel. */
const STEP = 4;

/** The rows to render; `last` is exclusive. */
export function visibleRows(scrollTop: number, height: number, rowHeight: number, count: number): RowRange {
  const top = Math.floor(Math.max(0, scrollTop) / rowHeight / STEP) * STEP;
  const visible = Math.ceil(height / rowHeight) + STEP;
  return { first: Math.max(0, Math.min(top, count) - OVERSCAN), last: Math.min(count, top + visible + OVERSCAN) };
}

export type Sort = { by: string; isDown: boolean };
type Sortable = string | number | null | undefined;

/**
 * Sorts the rows, keeping the order of equal ones. Computes each key once, so that 100,000 rows sort without a visible
 * delay. Unknown keys come last.
 */
export function sorted<Row>(rows: readonly Row[], keyOf: (row: Row) => Sortable, isDown: boolean): readonly Row[] {
  const keyed = rows.map((row) => {
    const key = keyOf(row);
    return { row, key: typeof key === "string" ? key.toLowerCase() : key };
  });
  const way = isDown ? -1 : 1;
  keyed.sort((one, other) => {
    if (one.key === other.key) return 0;
    if (one.key === null || one.key === undefined) return 1;
    if (other.key === null || other.key === undefined) return -1;
    return one.key < other.key ? -way : way;
  });
  return keyed.map(({ row }) => row);
}
