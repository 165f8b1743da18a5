/** Which rows of a long table are in view: all that a table draws, however many it has. */

export type Rows = { first: number; last: number };

/** Rows drawn beyond either edge, so that scrolling shows no gaps. */
const BEYOND = 8;
/** Views move by so many rows at once: a finer step would draw anew on every pixel. */
const STEP = 4;

/** `last` is exclusive. */
export function rowsInView(scrollTop: number, height: number, rowHeight: number, count: number): Rows {
  const top = Math.floor(Math.max(0, scrollTop) / rowHeight / STEP) * STEP;
  const visible = Math.ceil(height / rowHeight) + STEP;
  return { first: Math.max(0, Math.min(top, count) - BEYOND), last: Math.min(count, top + visible + BEYOND) };
}

export type Sort = { by: string; isDown: boolean };
type Sortable = string | number | null | undefined;

/** Keys are made once for each row: a hundred thousand are sorted before anybody notices. Unknown ones come last. */
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
