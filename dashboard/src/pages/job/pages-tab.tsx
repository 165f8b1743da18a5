import type { PageOut } from "../../../../src/api/wire-types.ts";
import type { JobOut } from "../../../../src/client/client.ts";
import { useListing } from "../../listing.ts";
import { place, setQuery } from "../../router.ts";
import { api } from "../../session.ts";
import { Empty } from "../../ui/empty.tsx";
import { SelectField } from "../../ui/field.tsx";
import { bytes, count, duration } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { ListingFoot } from "./listing-foot.tsx";
import { PageDialog } from "./page-dialog.tsx";
import { StatusBadge } from "./status-badge.tsx";

const PAGE = 500;

const STATUSES = [
  { value: "", label: "Any status" },
  { value: "2xx", label: "2xx, fetched" },
  { value: "3xx", label: "3xx, elsewhere" },
  { value: "4xx", label: "4xx, refused" },
  { value: "5xx", label: "5xx, failed" },
];

const COLUMNS: readonly Column<PageOut>[] = [
  {
    id: "status",
    title: "Status",
    tip: "What the site answered with.",
    rem: 4,
    grow: 0,
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  { id: "url", title: "URL", rem: 12, grow: 4, cell: ({ url }) => <Scraped text={url} /> },
  {
    id: "size",
    title: "Size",
    tip: "Of the body, after decompression.",
    isNumber: true,
    rem: 5,
    grow: 0,
    cell: ({ bodyBytes }) => bytes(bodyBytes),
  },
  {
    id: "took",
    title: "Took",
    tip: "From the first byte sent to the last byte read.",
    isNumber: true,
    rem: 5,
    grow: 0,
    from: "tablet",
    cell: ({ tookMs }) => duration(tookMs),
  },
  {
    id: "records",
    title: "Records",
    tip: "What was extracted from it.",
    isNumber: true,
    rem: 4.5,
    grow: 0,
    from: "tablet",
    cell: ({ records }) => count(records),
  },
  {
    id: "depth",
    title: "Depth",
    tip: "Links from a start URL.",
    isNumber: true,
    rem: 3.5,
    grow: 0,
    from: "desk",
    cell: ({ depth }) => count(depth),
  },
  {
    id: "kept",
    title: "Kept",
    tip: "What of the page is kept beside this line.",
    rem: 9.5,
    grow: 0,
    from: "desk",
    cell: ({ kept }) => kept.join(", "),
  },
  {
    id: "at",
    title: "Fetched",
    tip: "When its answer came.",
    isNumber: true,
    rem: 6.5,
    grow: 0,
    from: "tablet",
    cell: ({ fetchedAt }) => <Ago at={fetchedAt} />,
  },
];

export function PagesTab({ job }: { job: JobOut }) {
  const { q, status, page } = place.value.query;
  const isSearch = q !== undefined || status !== undefined;
  const listing = useListing<PageOut>(
    async (cursor, signal) => {
      const filter = { ...(q === undefined ? {} : { q }), ...(status === undefined ? {} : { status }) };
      const { pages, next, looked } = await api()
        .job(job.id)
        .listPages({ limit: PAGE, ...filter, ...(cursor === undefined ? {} : { cursor }), signal });
      return { rows: pages, next, looked };
    },
    [job.id, q, status, job.tally.pages > 0],
  );
  return (
    <>
      <div class="filters">
        <SearchField label="Search pages" placeholder="Text in the URL" />
        <SelectField
          label="Status"
          isLabelHidden
          value={status ?? ""}
          onChange={(value) => setQuery({ status: value })}
          options={STATUSES.some(({ value }) => value === (status ?? "")) ? STATUSES : [...STATUSES, own(status ?? "")]}
        />
      </div>
      <Problem error={listing.error} onRetry={listing.reload} />
      <Table
        label="Pages"
        class="table-tall"
        columns={COLUMNS}
        rows={listing.rows}
        keyOf={({ id }) => String(id)}
        onOpen={({ id }) => setQuery({ page: id })}
        loadMore={listing.loadMore}
        isLoading={listing.isLoading}
        empty={
          listing.error === undefined && (
            <Empty title={isSearch ? "No page is like that." : "No pages yet."}>
              <p>Pages that were not fetched are under Errors. A job with keep.pages off keeps none.</p>
            </Empty>
          )
        }
      />
      {listing.rows.length > 0 && (
        <ListingFoot listing={listing} what="page" isSearch={isSearch} hasMore={job.tally.pages > listing.looked} />
      )}
      {page !== undefined && <PageDialog id={Number(page)} onClose={() => setQuery({ page: undefined })} />}
    </>
  );
}

function own(status: string) {
  return { value: status, label: status.slice(0, 20) };
}
