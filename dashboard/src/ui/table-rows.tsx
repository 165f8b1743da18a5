// biome-ignore-all lint/a11y/useSemanticElements: absolutely positioned rows cannot be rows of a <table>
// biome-ignore-all lint/a11y/useFocusableInteractive: the table itself has the focus
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the table itself handles Enter
/** The header row and the body rows of a table. */

import type { Sort } from "./row-window.ts";
import type { Column } from "./table.tsx";
import { Tip } from "./tip.tsx";

type Layout = { gridTemplateColumns: string; minWidth: string };

type HeadProps<T> = {
  columns: readonly Column<T>[];
  layout: Layout;
  sort: Sort | undefined;
  onSort: (sort: Sort) => void;
};

export function HeadRow<T>({ columns, layout, sort, onSort }: HeadProps<T>) {
  return (
    <div class="table-head" role="rowgroup" style={{ minWidth: layout.minWidth }}>
      <div class="table-row" role="row" aria-rowindex={1} style={{ gridTemplateColumns: layout.gridTemplateColumns }}>
        {columns.map((column) => (
          <HeadCell key={column.id} column={column} sort={sort} onSort={onSort} />
        ))}
      </div>
    </div>
  );
}

type HeadCellProps<T> = { column: Column<T>; sort: Sort | undefined; onSort: (sort: Sort) => void };

function HeadCell<T>({ column, sort, onSort }: HeadCellProps<T>) {
  const { id, title, tip, isNumber = false, sortBy } = column;
  const isSorted = sort?.by === id && sortBy !== undefined;
  const isDown = isSorted && sort.isDown;
  const label = sortBy === undefined ? title : sortButton();
  function sortButton() {
    // The first click sorts numbers from the largest, text from A.
    const next = { by: id, isDown: isSorted ? !isDown : isNumber };
    return (
      <button type="button" class="table-sort" onClick={() => onSort(next)}>
        {title}
        {isSorted && <span aria-hidden="true">{isDown ? "▾" : "▴"}</span>}
      </button>
    );
  }
  return (
    <div
      role="columnheader"
      class={isNumber ? "table-cell is-number" : "table-cell"}
      aria-sort={isSorted ? (isDown ? "descending" : "ascending") : undefined}
    >
      {tip === undefined ? (
        label
      ) : (
        <Tip text={tip} isUnfocusable={sortBy !== undefined}>
          {label}
        </Tip>
      )}
    </div>
  );
}

type RowProps<T> = {
  id: string;
  nth: number;
  row: T;
  columns: readonly Column<T>[];
  layout: Layout;
  height: number;
  href: string | undefined;
  isActive: boolean;
  isSelected: boolean;
  onOpen?: () => void;
};

export function Row<T>(props: RowProps<T>) {
  const { id, nth, row, columns, layout, height, href, isActive, isSelected, onOpen } = props;
  const marks = `${onOpen === undefined ? "" : " is-link"}${isActive ? " is-active" : ""}${isSelected ? " is-selected" : ""}`;
  return (
    <div
      id={id}
      role="row"
      aria-rowindex={nth + 2}
      aria-selected={isSelected ? true : undefined}
      class={`table-row${marks}`}
      style={{
        gridTemplateColumns: layout.gridTemplateColumns,
        height: `${height}px`,
        transform: `translateY(${nth * height}px)`,
      }}
      onClick={(event) => {
        if (!isForRow(event)) return;
        onOpen?.();
      }}
    >
      {columns.map((column, columnIndex) => (
        <div key={column.id} role="gridcell" class={column.isNumber === true ? "table-cell is-number" : "table-cell"}>
          {columnIndex === 0 && href !== undefined ? <a href={href}>{column.cell(row)}</a> : column.cell(row)}
        </div>
      ))}
    </div>
  );
}

/** False for a click on a control inside the row, or while the user selects text. */
function isForRow(event: MouseEvent): boolean {
  const isInside = (event.target as Element).closest("a, button, input, select, label, summary, dialog") !== null;
  return !isInside && (getSelection()?.isCollapsed ?? true);
}
