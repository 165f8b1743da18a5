import type { JobOut } from "../../../../src/client/client.ts";
import { place } from "../../router.ts";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { hasEnded } from "../jobs/job-numbers.ts";
import { Download } from "./download.tsx";
import { FieldsTable } from "./fields-table.tsx";
import { ListingFoot } from "./listing-foot.tsx";
import { useLines } from "./use-lines.ts";

export function RecordsTab({ job }: { job: JobOut }) {
  const { q } = place.value.query;
  const listing = useLines(job, "records", q);
  return (
    <>
      <div class="filters">
        <SearchField label="Search records" placeholder="Text in any field" />
        <Download job={job} q={q} />
      </div>
      <Problem error={listing.error} onRetry={listing.reload} />
      <FieldsTable
        label="Records"
        listing={listing}
        empty={listing.error === undefined && <NoRecords job={job} isSearch={q !== undefined} />}
      />
      {listing.rows.length > 0 && (
        <ListingFoot
          listing={listing}
          what="record"
          isSearch={q !== undefined}
          hasMore={job.tally.records > listing.looked}
        />
      )}
    </>
  );
}

function NoRecords({ job, isSearch }: { job: JobOut; isSearch: boolean }) {
  if (isSearch) return <Empty title="No record has that in it." />;
  if (!hasEnded(job)) {
    return (
      <Empty title="No records yet.">
        <p>They come as pages are read. “Why it waits” says what holds them up.</p>
      </Empty>
    );
  }
  return (
    <Empty title="The job has no records.">
      <p>See Errors for what went wrong, and Definition for its rules; a job with keep.records off keeps none.</p>
    </Empty>
  );
}
