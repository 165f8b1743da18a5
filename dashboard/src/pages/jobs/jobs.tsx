/** All jobs, newest first. The server searches; the event stream keeps the rows up to date. */
import { useMemo } from "preact/hooks";
import type { JobOut } from "../../../../src/client/client.ts";
import { liveJobs, updatedJobs } from "../../live.ts";
import { usePagedRows } from "../../paged-rows.ts";
import { hrefOf, route, setQuery } from "../../router.ts";
import { api, may } from "../../session.ts";
import { Empty } from "../../ui/empty.tsx";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { Table } from "../../ui/table.tsx";
import { deletedJobs } from "./deleted-jobs.ts";
import { JOB_COLUMNS } from "./job-columns.tsx";
import { StateChips, stateIn } from "./state-chips.tsx";
import "./jobs.css";

const PAGE = 200;

export function Jobs() {
  const { q, state: stateText } = route.value.query;
  const state = stateIn(stateText);
  const paged = usePagedRows<JobOut>(
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
    () => merged(paged.rows, newestJobs(), { q, state }).filter(({ id }) => !deletedJobs.value.has(id)),
    [paged.rows, liveJobs.value, updatedJobs.value, deletedJobs.value, q, state],
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
      <Problem error={paged.error} onRetry={paged.reload} />
      <Table
        label="Jobs"
        class="table-tall"
        columns={may("submit") ? JOB_COLUMNS : JOB_COLUMNS.filter(({ id }) => id !== "actions")}
        rows={rows}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => hrefOf(["jobs", id])}
        loadMore={paged.loadMore}
        isLoading={paged.isLoading}
        empty={paged.error === undefined && <NoJobs isFiltered={isFiltered} />}
      />
    </Page>
  );
}

function NoJobs({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No jobs match.">
        <button type="button" onClick={() => setQuery({ q: undefined, state: undefined })}>
          Show all jobs
        </button>
      </Empty>
    );
  }
  return (
    <Empty title="No jobs yet.">
      <p>
        {may("submit") ? (
          <>
            <a href="#/jobs/new">Create a job</a>, or run in a terminal:
          </>
        ) : (
          "Run in a terminal, with a key that has the scope submit:"
        )}
      </p>
      <pre>trawl submit https://books.toscrape.com/ --extract title=h1</pre>
    </Empty>
  );
}

function newestJobs(): ReadonlyMap<string, JobOut> | undefined {
  return liveJobs.value && new Map([...updatedJobs.value, ...liveJobs.value]);
}

type JobSearch = { q: string | undefined; state: JobOut["state"] | undefined };

/** The listed jobs, each in its newest known state, preceded by matching jobs that were submitted after the listing. */
function merged(
  listed: readonly JobOut[],
  live: ReadonlyMap<string, JobOut> | undefined,
  { q = "", state }: JobSearch,
): readonly JobOut[] {
  if (live === undefined) return listed;
  const terms = q.toLowerCase().split(/\s+/).filter(Boolean);
  const known = new Set(listed.map(({ id }) => id));
  const newest = listed[0]?.createdAt ?? "";
  const matches = ({ name, id }: JobOut) => terms.every((term) => `${name}\n${id}`.toLowerCase().includes(term));
  const fresh = [...live.values()].filter((job) => !known.has(job.id) && job.createdAt >= newest && matches(job));
  fresh.sort((one, other) => other.createdAt.localeCompare(one.createdAt));
  const all = [...fresh, ...listed.map((job) => live.get(job.id) ?? job)];
  return state === undefined ? all : all.filter((job) => job.state === state);
}
