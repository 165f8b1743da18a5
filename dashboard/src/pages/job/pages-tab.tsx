import type { JobOut } from "../../../../src/client/client.ts";
import type { PageOut } from "../../../../src/client/wire-types.ts";
import { usePagedRows } from "../../paged-rows.ts";
import { route, setQuery } from "../../router.ts";
import { api } from "../../session.ts";
import { StatusBadge } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { SelectField } from "../../ui/field.tsx";
import { bytes, count, duration } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { PageDialog } from "./page-dialog.tsx";
import { RowsFooter } from "./rows-footer.tsx";

const PAGE_ROWS = 500;

const STATUSES = [
  { value: "", label: "Any status" },
  { value: "2xx", label: "2xx, success" },
  { value: "3xx", label: "3xx, redirect" },
  { value: "4xx", label: "4xx, client error" },
  { value: "5xx", label: "5xx, server error" },
];

const COLUMNS: readonly Column<PageOut>[] = [
  {
    id: "status",
    title: "Status",
    tip: "The HTTP status of the response.",
    rem: 4,
    grow: 0,
    cell: ({ status }) => <StatusBadge status={status} />,
  },
  { id: "url", title: "URL", rem: 12, grow: 4, cell: ({ url }) => <Scraped text={url} /> },
  {
    id: "size",
    title: "Size",
    tip: "Size of the body after decompression.",
    isNumber: true,
    rem: 5,
    grow: 0,
    cell: ({ bodyBytes }) => bytes(bodyBytes),
  },
  {
    id: "took",
    title: "Time",
    tip: "Time from sending the request to the last byte of the response.",
    isNumber: true,
    rem: 5,
    grow: 0,
    from: "tablet",
    cell: ({ tookMs }) => duration(tookMs),
  },
  {
    id: "records",
    title: "Records",
    tip: "Records that were extracted from the page.",
    isNumber: true,
    rem: 4.5,
    grow: 0,
    from: "tablet",
    cell: ({ records }) => count(records),
  },
  {
    id: "depth",
    title: "Depth",
    tip: "Number of links from a start URL to the page.",
    isNumber: true,
    rem: 3.5,
    grow: 0,
    from: "desktop",
    cell: ({ depth }) => count(depth),
  },
  {
    id: "kept",
    title: "Stored",
    tip: "Which parts of the page are stored.",
    rem: 9.5,
    grow: 0,
    from: "desktop",
    cell: ({ kept }) => kept.join(", "),
  },
  {
    id: "at",
    title: "Fetched",
    tip: "When the response arrived.",
    isNumber: true,
    rem: 6.5,
    grow: 0,
    from: "tablet",
    cell: ({ fetchedAt }) => <Ago at={fetchedAt} />,
  },
];

export function PagesTab({ job }: { job: JobOut }) {
  const { q, status, page } = route.value.query;
  const isSearch = q !== undefined || status !== undefined;
  const paged = usePagedRows<PageOut>(
    async (cursor, signal) => {
      const filter = { ...(q === undefined ? {} : { q }), ...(status === undefined ? {} : { status }) };
      const { pages, next, searched } = await api()
        .job(job.id)
        .listPages({ limit: PAGE_ROWS, ...filter, ...(cursor === undefined ? {} : { cursor }), signal });
      return { rows: pages, next, searched };
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
          options={
            STATUSES.some(({ value }) => value === (status ?? "")) ? STATUSES : [...STATUSES, optionOf(status ?? "")]
          }
        />
      </div>
      <Problem error={paged.error} onRetry={paged.reload} />
      <Table
        label="Pages"
        class="table-tall"
        columns={COLUMNS}
        rows={paged.rows}
        keyOf={({ id }) => String(id)}
        onOpen={({ id }) => setQuery({ page: id })}
        loadMore={paged.loadMore}
        isLoading={paged.isLoading}
        empty={
          paged.error === undefined && (
            <Empty title={isSearch ? "No pages match." : "No pages yet."}>
              <p>Failed URLs are on the Errors tab. A job with keep.pages off stores no pages.</p>
            </Empty>
          )
        }
      />
      {paged.rows.length > 0 && (
        <RowsFooter paged={paged} what="page" isSearch={isSearch} hasMore={job.tally.pages > paged.searched} />
      )}
      {page !== undefined && <PageDialog id={Number(page)} onClose={() => setQuery({ page: undefined })} />}
    </>
  );
}

function optionOf(status: string) {
  return { value: status, label: status.slice(0, 20) };
}
