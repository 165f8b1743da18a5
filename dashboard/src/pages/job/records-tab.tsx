import type { JobOut } from "../../../../src/client/client.ts";
import { route } from "../../router.ts";
import { Empty } from "../../ui/empty.tsx";
import { Problem } from "../../ui/problem.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { hasEnded } from "../jobs/job-counts.ts";
import { Download } from "./download.tsx";
import { RecordsTable } from "./records-table.tsx";
import { RowsFooter } from "./rows-footer.tsx";
import { useRecordRows } from "./use-record-rows.ts";

export function RecordsTab({ job }: { job: JobOut }) {
  const { q } = route.value.query;
  const paged = useRecordRows(job, "records", q);
  return (
    <>
      <div class="filters">
        <SearchField label="Search records" placeholder="Text in any field" />
        <Download job={job} q={q} />
      </div>
      <Problem error={paged.error} onRetry={paged.reload} />
      <RecordsTable
        label="Records"
        paged={paged}
        empty={paged.error === undefined && <NoRecords job={job} isSearch={q !== undefined} />}
      />
      {paged.rows.length > 0 && (
        <RowsFooter
          paged={paged}
          what="record"
          isSearch={q !== undefined}
          hasMore={job.tally.records > paged.searched}
        />
      )}
    </>
  );
}

function NoRecords({ job, isSearch }: { job: JobOut; isSearch: boolean }) {
  if (isSearch) return <Empty title="No records match." />;
  if (!hasEnded(job)) {
    return (
      <Empty title="No records yet.">
        <p>Records appear as pages are parsed. The Explain tab shows what the job is waiting for.</p>
      </Empty>
    );
  }
  return (
    <Empty title="This job has no records.">
      <p>Check the Errors tab, and the rules on the Definition tab. A job with keep.records off stores no records.</p>
    </Empty>
  );
}
