/** All sites of all jobs, with their limits and status. */
import type { SiteOut } from "../../../../src/client/wire-types.ts";
import { hrefOf, route, setQuery } from "../../router.ts";
import { Empty } from "../../ui/empty.tsx";
import { count, duration, plural } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Choice } from "../../ui/tabs.tsx";
import { SiteStatusBadge } from "./site-status.tsx";
import { BUSIEST, type SiteOrder, type SiteRows, useSites } from "./use-sites.ts";

const ORDERS = [
  { value: "waiting", label: "Most waiting" },
  { value: "name", label: "All by name" },
] as const satisfies readonly { value: SiteOrder; label: string }[];

export function Sites() {
  const { q = "", sort } = route.value.query;
  const order: SiteOrder = sort === "name" ? "name" : "waiting";
  const found = useSites(q, order);
  return (
    <Page title="Sites" subtitle={subtitleOf(found, order)}>
      <div class="filters">
        <SearchField label="Search sites" placeholder="Part of the name" />
        <Choice
          label="Order"
          options={ORDERS}
          value={order}
          onChange={(value) => setQuery({ sort: value === "name" ? value : undefined })}
        />
        {order === "name" && (
          <button type="button" onClick={found.reload}>
            Refresh
          </button>
        )}
      </div>
      <Problem error={found.error} onRetry={found.reload} />
      {(found.sites !== undefined || found.error === undefined) && (
        <Table
          // A new table, because the rows have another order.
          key={order}
          label="Sites"
          columns={COLUMNS}
          rows={found.sites ?? []}
          keyOf={({ site }) => site}
          hrefOf={({ site }) => hrefOf(["sites", site])}
          loadMore={found.loadMore}
          isLoading={found.isLoading}
          empty={found.sites === undefined ? undefined : <NoSites q={q} order={order} />}
        />
      )}
    </Page>
  );
}

function subtitleOf({ sites, loadMore }: SiteRows, order: SiteOrder): string {
  if (sites === undefined) return "";
  if (order === "name") return `${count(sites.length)}${loadMore === undefined ? "" : "+"} sites by name`;
  const shown =
    sites.length < BUSIEST
      ? `${plural(sites.length, "site")} with waiting URLs`
      : `The ${BUSIEST} sites with the most waiting URLs`;
  return `${shown}. Updated every 4 s.`;
}

function NoSites({ q, order }: { q: string; order: SiteOrder }) {
  if (q !== "") {
    return (
      <Empty title={order === "name" ? "No sites match." : "No matching site has waiting URLs."}>
        {order === "waiting" && <p>Choose “All by name” to search all sites.</p>}
      </Empty>
    );
  }
  if (order === "name") {
    return (
      <Empty title="No sites yet.">
        <p>
          <a href={hrefOf(["jobs", "new"])}>Submit a job</a>. The sites of its URLs are listed here.
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No site has waiting URLs.">
      <p>
        <a href={hrefOf(["sites"], { sort: "name" })}>Show all sites</a>, or{" "}
        <a href={hrefOf(["jobs", "new"])}>submit a job</a>.
      </p>
    </Empty>
  );
}

const COLUMNS: readonly Column<SiteOut>[] = [
  { id: "site", title: "Site", rem: 8, grow: 3, cell: ({ site }) => <Scraped text={site} max={300} /> },
  {
    id: "state",
    title: "State",
    tip: "Whether a request can be sent now, or what it waits for.",
    rem: 9,
    grow: 0,
    cell: (site) => <SiteStatusBadge site={site} />,
  },
  {
    id: "waiting",
    title: "Waiting",
    tip: "URLs of all jobs that wait for this site.",
    isNumber: true,
    rem: 4.5,
    cell: ({ waiting }) => count(waiting),
  },
  {
    id: "inFlight",
    title: "In flight",
    tip: "Requests in flight, out of the allowed maximum.",
    isNumber: true,
    rem: 5.5,
    from: "tablet",
    cell: ({ inFlight, perSite }) => `${count(inFlight)} / ${count(perSite)}`,
  },
  {
    id: "rate",
    title: "Rate",
    tip: "The rate that applies: the strictest rate of the site's jobs and its robots.txt, or the operator's override.",
    isNumber: true,
    rem: 5.5,
    from: "tablet",
    cell: ({ rate }) => rate,
  },
  {
    id: "burst",
    title: "Burst",
    tip: "Requests that may be sent at once after a pause.",
    isNumber: true,
    rem: 4,
    grow: 0,
    from: "desktop",
    cell: ({ burst }) => count(burst),
  },
  {
    id: "delay",
    title: "Crawl-delay",
    tip: "The minimum delay between two requests, from robots.txt.",
    isNumber: true,
    rem: 6.5,
    grow: 0,
    from: "desktop",
    cell: ({ crawlDelayMs }) => (crawlDelayMs === 0 ? "" : duration(crawlDelayMs)),
  },
];
