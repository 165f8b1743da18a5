// biome-ignore-all lint/a11y/useSemanticElements: absolutely positioned rows cannot be rows of a <table>
/**
 * A table of any length. All rows have the same height and only visible rows are rendered. More rows are loaded when
 * the user scrolls near the end. Arrow keys move between rows, Enter opens one.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { go } from "../router.ts";
import { type Sort, sorted, visibleRows } from "./row-window.ts";
import { fitsScreen, type ScreenSize, screenSize } from "./screen-size.ts";
import { HeadRow, Row } from "./table-rows.tsx";

export type Column<T> = {
  id: string;
  title: string;
  /** Explains the values of the column. */
  tip?: string;
  cell: (row: T) => ComponentChildren;
  /** Minimum width. */
  rem: number;
  /** Share of the remaining width; 0 for a fixed width. */
  grow?: number;
  isNumber?: boolean;
  /** Makes the column sortable. Only set it if all rows are loaded. */
  sortBy?: (row: T) => string | number | null | undefined;
  /** The smallest screen that shows the column. */
  from?: ScreenSize;
};

type TableProps<T> = {
  /** Names the table for screen readers. */
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** The link of a row; its first cell is the anchor. */
  hrefOf?: (row: T) => string | undefined;
  onOpen?: (row: T) => void;
  isSelected?: (row: T) => boolean;
  sort?: Sort;
  rowHeight?: number;
  /** Loads more rows; called when the user scrolls near the end. */
  loadMore?: (() => void) | undefined;
  isLoading?: boolean;
  empty?: ComponentChildren;
  /** A class that changes the maximum height. */
  class?: string;
};

const ROW_HEIGHT = 36;
const GAP_REM = 1;
const SIDES_REM = 1.5;

export function Table<T>(props: TableProps<T>) {
  const { label, rows, keyOf, rowHeight = ROW_HEIGHT, empty, isLoading = false, class: name = "" } = props;
  const columns = props.columns.filter(({ from = "phone" }) => fitsScreen(from, screenSize.value));
  const [sort, setSort] = useState(props.sort);
  const scroller = useRef<HTMLDivElement>(null);
  const ordered = useOrdered(rows, props.columns, sort);
  const { first, last, update } = useView(scroller, ordered.length, rowHeight);
  const [active, setActive] = useState(-1);

  useEffect(() => {
    if (last >= ordered.length && !isLoading) props.loadMore?.();
  }, [last, ordered.length, isLoading, props.loadMore]);

  if (rows.length === 0 && !isLoading && props.loadMore === undefined && empty !== undefined) return <>{empty}</>;
  const open = (row: T) => {
    const href = props.hrefOf?.(row);
    if (href !== undefined) go(href);
    else props.onOpen?.(row);
  };
  const move = (event: KeyboardEvent) => {
    if (event.target !== scroller.current) return;
    const row = ordered[active];
    if (event.key === "Enter" && row !== undefined) return open(row);
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 2);
    const to = movedTo(event.key, active, page, ordered.length);
    if (to === undefined) return;
    event.preventDefault();
    setActive(to);
    reveal(scroller.current, to, rowHeight);
  };
  const layout = { gridTemplateColumns: columns.map(trackOf).join(" "), minWidth: `${minWidthOf(columns)}rem` };
  const isOpenable = props.hrefOf !== undefined || props.onOpen !== undefined;

  return (
    <div
      ref={scroller}
      class={`table ${name}`}
      role="grid"
      aria-label={label}
      aria-rowcount={ordered.length + 1}
      aria-busy={isLoading}
      aria-activedescendant={active >= first && active < last ? idOf(label, active) : undefined}
      tabIndex={0}
      onScroll={update}
      onKeyDown={move}
      onBlur={() => setActive(-1)}
    >
      <HeadRow columns={columns} layout={layout} sort={sort} onSort={setSort} />
      <div
        class="table-body"
        role="rowgroup"
        style={{ height: `${ordered.length * rowHeight}px`, minWidth: layout.minWidth }}
      >
        {ordered.slice(first, last).map((row, nth) => (
          <Row
            key={keyOf(row)}
            id={idOf(label, first + nth)}
            nth={first + nth}
            row={row}
            columns={columns}
            layout={layout}
            height={rowHeight}
            href={props.hrefOf?.(row)}
            isActive={first + nth === active}
            isSelected={props.isSelected?.(row) === true}
            {...(isOpenable ? { onOpen: () => open(row) } : {})}
          />
        ))}
      </div>
      {isLoading && <p class="table-more">Loading …</p>}
    </div>
  );
}

function useOrdered<T>(rows: readonly T[], columns: readonly Column<T>[], sort: Sort | undefined): readonly T[] {
  const sortBy = columns.find(({ id }) => id === sort?.by)?.sortBy;
  return useMemo(
    () => (sort === undefined || sortBy === undefined ? rows : sorted(rows, sortBy, sort.isDown)),
    [rows, sort?.by, sort?.isDown, sortBy === undefined],
  );
}

/** The range of visible rows; call `update` after scrolling. */
function useView(scroller: { readonly current: HTMLDivElement | null }, count: number, rowHeight: number) {
  const [view, setView] = useState({ scrollTop: 0, height: 600 });
  const { first, last } = visibleRows(view.scrollTop, view.height, rowHeight, count);
  const update = () => {
    const box = scroller.current;
    if (box === null) return;
    const next = { scrollTop: box.scrollTop, height: box.clientHeight };
    const rows = visibleRows(next.scrollTop, next.height, rowHeight, count);
    if (rows.first !== first || rows.last !== last) setView(next);
  };
  const latest = useRef(update);
  latest.current = update;
  const hasRows = count > 0;
  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    const observer = new ResizeObserver(() => latest.current());
    observer.observe(box);
    return () => observer.disconnect();
  }, [hasRows]);
  return { first, last, update };
}

/** The row that a key moves to; undefined for other keys. */
function movedTo(key: string, from: number, page: number, count: number): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: page,
    PageUp: -page,
    Home: -count,
    End: count,
  };
  const step = steps[key];
  return step === undefined || count === 0 ? undefined : Math.max(0, Math.min(count - 1, from + step));
}

function reveal(box: HTMLDivElement | null, nth: number, rowHeight: number): void {
  const head = (box?.firstElementChild as HTMLElement | null)?.offsetHeight ?? 0;
  if (box === null) return;
  const top = nth * rowHeight;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + rowHeight + head > box.scrollTop + box.clientHeight)
    box.scrollTop = top + rowHeight + head - box.clientHeight;
}

function trackOf<T>({ rem, grow = 1 }: Column<T>): string {
  return grow === 0 ? `${rem}rem` : `minmax(${rem}rem, ${grow}fr)`;
}

function minWidthOf<T>(columns: readonly Column<T>[]): number {
  return columns.reduce((sum, { rem }) => sum + rem, 0) + (columns.length - 1) * GAP_REM + SIDES_REM;
}

function idOf(label: string, nth: number): string {
  return `${label.replaceAll(/\W+/g, "-")}-${nth}`;
}
