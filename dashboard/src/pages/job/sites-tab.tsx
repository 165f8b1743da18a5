import { useRef } from "preact/hooks";
import type { JobOut } from "../../../../src/client/client.ts";
import type { JobSiteOut } from "../../../../src/client/wire-types.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf } from "../../router.ts";
import { api, may } from "../../session.ts";
import { Empty } from "../../ui/empty.tsx";
import { bytes, count, localizeTimes } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { hasEnded } from "../jobs/job-counts.ts";

const POLL_MS = 3_000;
/** How many sites are loaded at first, and each time the user scrolls to the end. The page loads at most SITES_MAX. */
const SITES_STEP = 500;
const SITES_MAX = 2_000;

const number = (id: keyof JobSiteOut & string, title: string, tip: string, of: (site: JobSiteOut) => number) =>
  ({
    ...{ id, title, tip, isNumber: true, rem: 5, grow: 0 },
    cell: (site) => count(of(site)),
    sortBy: of,
  }) satisfies Column<JobSiteOut>;

const COLUMNS: readonly Column<JobSiteOut>[] = [
  {
    id: "site",
    title: "Site",
    rem: 10,
    grow: 2,
    cell: ({ site }) =>
      may("admin") ? (
        <a href={hrefOf(["sites", site])}>
          <Scraped text={site} />
        </a>
      ) : (
        <Scraped text={site} />
      ),
    sortBy: ({ site }) => site,
  },
  number("waiting", "Waiting", "URLs of this job that wait for this site.", ({ waiting }) => waiting),
  {
    ...number("inFlight", "In flight", "Requests of this job that are in flight at this site.", (one) => one.inFlight),
    from: "tablet",
  },
  number("pages", "Pages", "Pages that were fetched and stored.", ({ pages }) => pages),
  {
    ...number("records", "Records", "Records that were extracted from these pages.", ({ records }) => records),
    from: "tablet",
  },
  number("dead", "Failed", "URLs that failed permanently (dead letters).", ({ dead }) => dead),
  {
    ...number("bytes", "Size", "Size of all bodies after decompression.", (one) => one.bytes),
    cell: (site) => bytes(site.bytes),
    from: "desktop",
  },
  {
    id: "last",
    title: "Last page",
    isNumber: true,
    rem: 6.5,
    grow: 0,
    from: "tablet",
    cell: ({ lastPageAt }) => <Ago at={lastPageAt} />,
    sortBy: ({ lastPageAt }) => lastPageAt,
  },
  {
    id: "why",
    title: "Reason for waiting",
    tip: "Why the URLs of this site wait longer than its rate requires.",
    rem: 12,
    grow: 2,
    from: "tablet",
    cell: ({ why }) => (why === null ? "" : <Scraped text={localizeTimes(why)} />),
  },
];

export function SitesTab({ job }: { job: JobOut }) {
  const isOver = hasEnded(job);
  const max = useRef(SITES_STEP);
  const { value, error, isLoading, reload } = usePolled(
    (signal) => firstSites(job.id, max.current, signal),
    isOver ? 0 : POLL_MS,
    [job.id, isOver],
  );
  const shown = value?.length ?? 0;
  const hasMore = shown >= max.current;
  const more = () => {
    if (shown < max.current) return; // already requested
    max.current += SITES_STEP;
    reload();
  };
  return (
    <>
      <Problem error={error} onRetry={reload} />
      {hasMore && <p class="muted">Showing the first {count(shown)} sites by name. The job may have more.</p>}
      <Table
        label="Sites of the job"
        class="table-tall"
        columns={COLUMNS}
        rows={value ?? []}
        keyOf={({ site }) => site}
        sort={{ by: "waiting", isDown: true }}
        isLoading={isLoading}
        loadMore={hasMore && shown < SITES_MAX ? more : undefined}
        empty={
          error === undefined && (
            <Empty
              title={job.archived ? "This job is archived, so its sites are no longer available." : "No sites yet."}
            >
              <p>
                {job.archived
                  ? "Its records and pages are still available."
                  : "A site appears here as soon as the job has a URL of that site."}
              </p>
            </Empty>
          )
        }
      />
    </>
  );
}

async function firstSites(id: string, max: number, signal: AbortSignal): Promise<JobSiteOut[]> {
  const sites: JobSiteOut[] = [];
  for await (const site of api().job(id).sites({ signal })) if (sites.push(site) >= max) break;
  return sites;
}
