import type { JobOut } from "../../../../src/client/client.ts";
import { place } from "../../router.ts";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import type { Column } from "../../ui/table.tsx";
import { cellText } from "./cell-text.ts";
import { FieldsTable, type Line } from "./fields-table.tsx";
import { ListingFoot } from "./listing-foot.tsx";
import { useLines } from "./use-lines.ts";

const REASON: readonly Column<Line>[] = [
  {
    id: "reason",
    title: "What is wrong",
    rem: 16,
    grow: 3,
    cell: ({ fields }) => <Scraped text={cellText(fields._reason)} />,
  },
];

/** Records that lack what their rules or schema ask for. */
export function InvalidTab({ job }: { job: JobOut }) {
  const { q } = place.value.query;
  const listing = useLines(job, "invalid", q);
  return (
    <>
      <div class="filters">
        <SearchField label="Search invalid records" placeholder="Text in any field, or in the reason" />
      </div>
      <Problem error={listing.error} onRetry={listing.reload} />
      <FieldsTable
        label="Invalid records"
        listing={listing}
        first={REASON}
        empty={
          listing.error === undefined && (
            <Empty title={q === undefined ? "No record is invalid." : "No invalid record has that in it."}>
              <p>Records are checked for fields that are required, and by a spider's schema.</p>
            </Empty>
          )
        }
      />
      {listing.rows.length > 0 && <ListingFoot listing={listing} what="invalid record" isSearch={q !== undefined} />}
    </>
  );
}
