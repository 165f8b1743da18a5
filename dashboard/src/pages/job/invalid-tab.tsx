import type { JobOut } from "../../../../src/client/client.ts";
import { route } from "../../router.ts";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import type { Column } from "../../ui/table.tsx";
import { cellText } from "./cell-text.ts";
import { type RecordRow, RecordsTable } from "./records-table.tsx";
import { RowsFooter } from "./rows-footer.tsx";
import { useRecordRows } from "./use-record-rows.ts";

const REASON: readonly Column<RecordRow>[] = [
  {
    id: "reason",
    title: "Problem",
    rem: 16,
    grow: 3,
    cell: ({ fields }) => <Scraped text={cellText(fields._reason)} />,
  },
];

/** Records that lack a required field or do not match the schema. */
export function InvalidTab({ job }: { job: JobOut }) {
  const { q } = route.value.query;
  const paged = useRecordRows(job, "invalid", q);
  return (
    <>
      <div class="filters">
        <SearchField label="Search invalid records" placeholder="Text in any field or in the problem" />
      </div>
      <Problem error={paged.error} onRetry={paged.reload} />
      <RecordsTable
        label="Invalid records"
        paged={paged}
        first={REASON}
        empty={
          paged.error === undefined && (
            <Empty title={q === undefined ? "No invalid records." : "No invalid records match."}>
              <p>Trawl checks that each record has the required fields and matches the schema of the spider.</p>
            </Empty>
          )
        }
      />
      {paged.rows.length > 0 && <RowsFooter paged={paged} what="invalid record" isSearch={q !== undefined} />}
    </>
  );
}
