/** Every site that a job has met: what it gets, what waits for it, and whether it rests. */
import type { SiteOut } from "../../../../src/api/wire-fleet.ts";
import { hrefOf, place, setQuery } from "../../router.ts";
import { Empty } from "../../ui/empty.tsx";
import { count, duration, plural } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Choice } from "../../ui/tabs.tsx";
import { SiteState } from "./site-state.tsx";
import { BUSIEST, type FoundSites, type SiteOrder, useSites } from "./use-sites.ts";

const ORDERS = [
  { value: "waiting", label: "Most waiting" },
  { value: "name", label: "All, by name" },
] as const satisfies readonly { value: SiteOrder; label: string }[];

export function Sites() {
  const { q = "", sort } = place.value.query;
  const order: SiteOrder = sort === "name" ? "name" : "waiting";
  const found = useSites(q, order);
  return (
    <Page title="Sites" says={saysOf(found, order)}>
      <div class="filters">
        <SearchField label="Search sites" placeholder="Part of a name, such as shop" />
        <Choice
          label="Which sites"
          options={ORDERS}
          value={order}
          onChange={(value) => setQuery({ sort: value === "name" ? value : undefined })}
        />
        {order === "name" && (
          <button type="button" onClick={found.reload}>
            Look again
          </button>
        )}
      </div>
      <Problem error={found.error} onRetry={found.reload} />
      {(found.sites !== undefined || found.error === undefined) && (
        <Table
          // The order of the one is not that of the other.
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

function saysOf({ sites, loadMore }: FoundSites, order: SiteOrder): string {
  if (sites === undefined) return "";
  if (order === "name") return `${count(sites.length)}${loadMore === undefined ? "" : " and more"}, by name`;
  const words =
    sites.length < BUSIEST
      ? `${plural(sites.length, "site")} with URLs waiting`
      : `The ${BUSIEST} sites with most URLs waiting`;
  return `${words}, anew every 4 s`;
}

function NoSites({ q, order }: { q: string; order: SiteOrder }) {
  if (q !== "") {
    return (
      <Empty
        title={order === "name" ? "No site has that in its name." : "Nothing waits for a site with that in its name."}
      >
        {order === "waiting" && <p>Look among all of them, by name.</p>}
      </Empty>
    );
  }
  if (order === "name") {
    return (
      <Empty title="No job has met a site yet.">
        <p>
          <a href={hrefOf(["jobs", "new"])}>Submit a job</a>: the sites of its URLs are listed here.
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing waits for any site.">
      <p>
        <a href={hrefOf(["sites"], { sort: "name" })}>Look at all sites</a>, or{" "}
        <a href={hrefOf(["jobs", "new"])}>submit a job</a>.
      </p>
    </Empty>
  );
}

const COLUMNS: readonly Column<SiteOut>[] = [
  { id: "site", title: "Site", rem: 8, grow: 3, cell: ({ site }) => <Scraped text={site} most={300} /> },
  {
    id: "state",
    title: "State",
    tip: "Whether a request may go now, and if not, what it waits for.",
    rem: 9,
    grow: 0,
    cell: (site) => <SiteState site={site} />,
  },
  {
    id: "waiting",
    title: "Waiting",
    tip: "URLs that wait for it, in all jobs.",
    isNumber: true,
    rem: 4.5,
    cell: ({ waiting }) => count(waiting),
  },
  {
    id: "inFlight",
    title: "In flight",
    tip: "Requests under way, of how many at once.",
    isNumber: true,
    rem: 5.5,
    from: "tablet",
    cell: ({ inFlight, perSite }) => `${count(inFlight)} / ${count(perSite)}`,
  },
  {
    id: "rate",
    title: "Rate",
    tip: "What it gets: the strictest of its jobs and its robots.txt, or the operator's word.",
    isNumber: true,
    rem: 5.5,
    from: "tablet",
    cell: ({ rate }) => rate,
  },
  {
    id: "burst",
    title: "Burst",
    tip: "How many may go at once after a quiet time.",
    isNumber: true,
    rem: 4,
    grow: 0,
    from: "desk",
    cell: ({ burst }) => count(burst),
  },
  {
    id: "delay",
    title: "Crawl-delay",
    tip: "What its robots.txt asks for between two requests.",
    isNumber: true,
    rem: 6.5,
    grow: 0,
    from: "desk",
    cell: ({ crawlDelayMs }) => (crawlDelayMs === 0 ? "" : duration(crawlDelayMs)),
  },
];
