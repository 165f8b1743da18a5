/** Records as a table with one column per field. */
import { useMemo, useState } from "preact/hooks";
import type { PagedRows } from "../../paged-rows.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Scraped, ScrapedLink } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { cellText } from "./cell-text.ts";
import { FieldValues } from "./field-values.tsx";

export type RecordRow = { id: number; fields: Readonly<Record<string, unknown>> };

type RecordsTableProps = {
  label: string;
  paged: PagedRows<RecordRow>;
  /** Columns before those of the fields. */
  first?: readonly Column<RecordRow>[];
  empty: preact.ComponentChildren;
};

const NONE: readonly Column<RecordRow>[] = [];
/** Further fields are only shown when the record is opened. */
const COLUMNS_MAX = 12;
/** The columns are taken from the first records. */
const SAMPLED_RECORDS = 200;

export function RecordsTable({ label, paged, first = NONE, empty }: RecordsTableProps) {
  const [open, setOpen] = useState<RecordRow | undefined>(undefined);
  const names = fieldNames(paged.rows.slice(0, SAMPLED_RECORDS));
  const shape = names.join("\n");
  const columns = useMemo(() => [...first, ...names.map(fieldColumn), URL_COLUMN], [shape, first]);
  return (
    <>
      <Table
        label={label}
        class="table-tall"
        columns={columns}
        rows={paged.rows}
        keyOf={({ id }) => String(id)}
        onOpen={setOpen}
        loadMore={paged.loadMore}
        isLoading={paged.isLoading}
        empty={empty}
      />
      {open !== undefined && (
        <Dialog title="Record" isWide onClose={() => setOpen(undefined)}>
          <FieldValues fields={open.fields} />
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

/** The user's own fields: names that start with `_`, such as `_url`, are added by Trawl. */
function fieldNames(records: readonly RecordRow[]): string[] {
  const names = new Set<string>();
  for (const { fields } of records) for (const name of Object.keys(fields)) if (!name.startsWith("_")) names.add(name);
  return [...names].slice(0, COLUMNS_MAX);
}

function fieldColumn(name: string): Column<RecordRow> {
  return {
    id: `field ${name}`,
    title: name.slice(0, 60),
    rem: 9,
    cell: ({ fields }) => <Scraped text={cellText(fields[name])} />,
  };
}

const URL_COLUMN: Column<RecordRow> = {
  id: "url",
  title: "Page",
  tip: "The page the record was extracted from.",
  rem: 12,
  from: "tablet",
  cell: ({ fields }) => <ScrapedLink url={cellText(fields._url)} />,
};
