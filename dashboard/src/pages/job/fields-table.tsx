/** Records as a table: its columns are the fields that the records have. */
import { useMemo, useState } from "preact/hooks";
import type { Listing } from "../../listing.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Scraped, ScrapedLink } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { cellText } from "./cell-text.ts";
import { Values } from "./values.tsx";

export type Line = { id: number; fields: Readonly<Record<string, unknown>> };

type FieldsTableProps = {
  label: string;
  listing: Listing<Line>;
  /** Before the fields. */
  first?: readonly Column<Line>[];
  empty: preact.ComponentChildren;
};

const NONE: readonly Column<Line>[] = [];
/** More than these nobody reads side by side: the whole record opens. */
const COLUMNS_MOST = 12;
/** Fields are looked for in so many of the first records. */
const LOOKED_AT = 200;

export function FieldsTable({ label, listing, first = NONE, empty }: FieldsTableProps) {
  const [open, setOpen] = useState<Line | undefined>(undefined);
  const names = fieldNames(listing.rows.slice(0, LOOKED_AT));
  const shape = names.join("\n");
  const columns = useMemo(() => [...first, ...names.map(fieldColumn), URL_COLUMN], [shape, first]);
  return (
    <>
      <Table
        label={label}
        class="table-tall"
        columns={columns}
        rows={listing.rows}
        keyOf={({ id }) => String(id)}
        onOpen={setOpen}
        loadMore={listing.loadMore}
        isLoading={listing.isLoading}
        empty={empty}
      />
      {open !== undefined && (
        <Dialog title="Record" isWide onClose={() => setOpen(undefined)}>
          <Values fields={open.fields} />
          <div class="dialog-buttons">
            <button type="button" onClick={() => setOpen(undefined)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}

/** Fields of their own are what records have but `_url` and its like. */
function fieldNames(lines: readonly Line[]): string[] {
  const names = new Set<string>();
  for (const { fields } of lines) for (const name of Object.keys(fields)) if (!name.startsWith("_")) names.add(name);
  return [...names].slice(0, COLUMNS_MOST);
}

function fieldColumn(name: string): Column<Line> {
  return {
    id: `field ${name}`,
    title: name.slice(0, 60),
    rem: 9,
    cell: ({ fields }) => <Scraped text={cellText(fields[name])} />,
  };
}

const URL_COLUMN: Column<Line> = {
  id: "url",
  title: "Page",
  tip: "Where it was found.",
  rem: 12,
  from: "tablet",
  cell: ({ fields }) => <ScrapedLink url={cellText(fields._url)} />,
};
