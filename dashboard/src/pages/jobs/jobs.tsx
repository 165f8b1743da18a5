/** All jobs, newest first: searched on the server, brought up to date by the stream of events. */
import { useMemo } from "preact/hooks";
import type { JobOut } from "../../../../src/client/client.ts";
import { useListing } from "../../listing.ts";
import { liveJobs, notedJobs } from "../../live.ts";
import { hrefOf, place, setQuery } from "../../router.ts";
import { api, may } from "../../session.ts";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { Table } from "../../ui/table.tsx";
import { JOB_COLUMNS } from "./columns.tsx";
import { deletedJobs } from "./deleted.ts";
import { StateChips, stateIn } from "./state-chips.tsx";
import "./jobs.css";

const PAGE = 200;

export function Jobs() {
  const { q, state: asked } = place.value.query;
  const state = stateIn(asked);
  const listing = useListing<JobOut>(
    async (cursor, signal) => {
      const filter = { ...(q === undefined ? {} : { q }), ...(state === undefined ? {} : { state }) };
      const { jobs, next } = await api().listJobs({
        ...filter,
        ...(cursor === undefined ? {} : { cursor }),
        limit: PAGE,
        signal,
      });
      return { rows: jobs, next };
    },
    [q, state],
  );
  const rows = useMemo(
    () => merged(listing.rows, heardOf(), { q, state }).filter(({ id }) => !deletedJobs.value.has(id)),
    [listing.rows, liveJobs.value, notedJobs.value, deletedJobs.value, q, state],
  );
  const isFiltered = q !== undefined || state !== undefined;
  return (
    <Page
      title="Jobs"
      actions={
        may("submit") && (
          <a class="button primary" href="#/jobs/new">
            New job
          </a>
        )
      }
    >
      <div class="filters">
        <SearchField label="Search jobs" placeholder="Name, id or URL" />
        <StateChips current={state} />
      </div>
      <Problem error={listing.error} onRetry={listing.reload} />
      <Table
        label="Jobs"
        class="table-tall"
        columns={may("submit") ? JOB_COLUMNS : JOB_COLUMNS.filter(({ id }) => id !== "actions")}
        rows={rows}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => hrefOf(["jobs", id])}
        loadMore={listing.loadMore}
        isLoading={listing.isLoading}
        empty={listing.error === undefined && <NoJobs isFiltered={isFiltered} />}
      />
    </Page>
  );
}

function NoJobs({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No job is like that.">
        <button type="button" onClick={() => setQuery({ q: undefined, state: undefined })}>
          Show all jobs
        </button>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing was submitted yet.">
      <p>
        {may("submit") ? (
          <>
            <a href="#/jobs/new">Make a job by the form</a>, or in a terminal:
          </>
        ) : (
          "In a terminal, with a key that may submit:"
        )}
      </p>
      <pre>trawl submit https://books.toscrape.com/ --extract title=h1</pre>
    </Empty>
  );
}

function heardOf(): ReadonlyMap<string, JobOut> | undefined {
  return liveJobs.value && new Map([...notedJobs.value, ...liveJobs.value]);
}

type Sought = { q: string | undefined; state: JobOut["state"] | undefined };

/** Jobs as they were listed, each as last heard of, and those that came since in front. */
function merged(
  listed: readonly JobOut[],
  live: ReadonlyMap<string, JobOut> | undefined,
  { q = "", state }: Sought,
): readonly JobOut[] {
  if (live === undefined) return listed;
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const known = new Set(listed.map(({ id }) => id));
  const newest = listed[0]?.createdAt ?? "";
  const isWanted = ({ name, id }: JobOut) => words.every((word) => `${name}\n${id}`.toLowerCase().includes(word));
  const fresh = [...live.values()].filter((job) => !known.has(job.id) && job.createdAt >= newest && isWanted(job));
  fresh.sort((one, other) => other.createdAt.localeCompare(one.createdAt));
  const all = [...fresh, ...listed.map((job) => live.get(job.id) ?? job)];
  return state === undefined ? all : all.filter((job) => job.state === state);
}
