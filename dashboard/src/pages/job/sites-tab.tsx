import { useRef } from "preact/hooks";
import type { JobSiteOut } from "../../../../src/api/wire-types.ts";
import type { JobOut } from "../../../../src/client/client.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf } from "../../router.ts";
import { api, may } from "../../session.ts";
import { Empty } from "../../ui/empty.tsx";
import { bytes, count, withTimes } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { hasEnded } from "../jobs/job-numbers.ts";

const LOOK_EVERY_MS = 3_000;
/** Asked for at once; more where somebody scrolls to the last. Still more are looked through by the API. */
const SITES_STEP = 500;
const SITES_MOST = 2_000;

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
  number("waiting", "Waiting", "URLs of this job that wait for the site.", ({ waiting }) => waiting),
  {
    ...number("inFlight", "In flight", "Requests of this job under way there.", (one) => one.inFlight),
    from: "tablet",
  },
  number("pages", "Pages", "Fetched and stored.", ({ pages }) => pages),
  { ...number("records", "Records", "Extracted from these.", ({ records }) => records), from: "tablet" },
  number("dead", "Dead", "URLs that were given up on.", ({ dead }) => dead),
  {
    ...number("bytes", "Size", "Of all bodies, after decompression.", (one) => one.bytes),
    cell: (site) => bytes(site.bytes),
    from: "desk",
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
    title: "Why it waits",
    tip: "What holds it up for longer than its rate does.",
    rem: 12,
    grow: 2,
    from: "tablet",
    cell: ({ why }) => (why === null ? "" : <Scraped text={withTimes(why)} />),
  },
];

export function SitesTab({ job }: { job: JobOut }) {
  const isOver = hasEnded(job);
  const most = useRef(SITES_STEP);
  const { value, error, isLoading, reload } = usePolled(
    (signal) => firstSites(job.id, most.current, signal),
    isOver ? 0 : LOOK_EVERY_MS,
    [job.id, isOver],
  );
  const shown = value?.length ?? 0;
  const hasMore = shown >= most.current;
  const more = () => {
    if (shown < most.current) return; // they have been asked for
    most.current += SITES_STEP;
    reload();
  };
  return (
    <>
      <Problem error={error} onRetry={reload} />
      {hasMore && <p class="quiet">The first {count(shown)} sites, by name; the job has more.</p>}
      <Table
        label="Sites of the job"
        class="table-tall"
        columns={COLUMNS}
        rows={value ?? []}
        keyOf={({ site }) => site}
        sort={{ by: "waiting", isDown: true }}
        isLoading={isLoading}
        loadMore={hasMore && shown < SITES_MOST ? more : undefined}
        empty={
          error === undefined && (
            <Empty title={job.archived ? "The job has left the broker, and its sites with it." : "No sites yet."}>
              <p>
                {job.archived
                  ? "Its records and pages are still there."
                  : "They are there as soon as the job has a URL of them."}
              </p>
            </Empty>
          )
        }
      />
    </>
  );
}

async function firstSites(id: string, most: number, signal: AbortSignal): Promise<JobSiteOut[]> {
  const sites: JobSiteOut[] = [];
  for await (const site of api().job(id).sites({ signal })) if (sites.push(site) >= most) break;
  return sites;
}
