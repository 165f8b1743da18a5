/** One job: how it stands, what it brought, what went wrong, and what can be done about it. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { isApiError, type JobOut } from "../../../../src/client/client.ts";
import { liveJobs } from "../../live.ts";
import type { PageProps } from "../../pages.ts";
import { usePolled } from "../../polled.ts";
import { go, hrefOf, place } from "../../router.ts";
import { api, may } from "../../session.ts";
import { titleTab } from "../../tab-title.ts";
import { Badge, JobState } from "../../ui/badge.tsx";
import { Empty, Loading } from "../../ui/empty.tsx";
import { short } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { type Tab, Tabs } from "../../ui/tabs.tsx";
import { JobActions } from "../jobs/job-actions.tsx";
import { hasEnded } from "../jobs/job-numbers.ts";
import { ChangeDialog } from "./change-dialog.tsx";
import { ErrorsTab } from "./errors-tab.tsx";
import { ExplainTab } from "./explain-tab.tsx";
import { InvalidTab } from "./invalid-tab.tsx";
import { JobNumbers } from "./job-numbers.tsx";
import { Ledger } from "./ledger.tsx";
import { PagesTab } from "./pages-tab.tsx";
import { RecordsTab } from "./records-tab.tsx";
import { SitesTab } from "./sites-tab.tsx";
import { SpecTab } from "./spec-tab.tsx";
import { SubmittedNote } from "./submitted-note.tsx";
import { TimelineTab } from "./timeline-tab.tsx";
import "../jobs/jobs.css";
import "./job.css";

/** Of a job that the stream of events tells of only its settings are asked for, and one that has ended changes seldom. */
const LOOK_EVERY_MS = 5_000;
const FOLLOW_EVERY_MS = 2_000;

export function JobPage({ rest }: PageProps) {
  const [id = ""] = rest;
  return <OneJob key={id} id={id} />;
}

function OneJob({ id }: { id: string }) {
  const live = liveJobs.value?.get(id);
  const isOver = live !== undefined && hasEnded(live);
  const last = useRef<{ job: JobOut | undefined; isGone: boolean }>({ job: undefined, isGone: false });
  const everyMs =
    isOver || last.current.isGone ? 0 : live === undefined ? followEveryMs(last.current.job) : LOOK_EVERY_MS;
  const asked = usePolled((signal) => api().job(id).state({ signal }), everyMs, [id, isOver]);
  const isGone = isApiError(asked.error, "NOT_FOUND");
  const job = isGone ? undefined : newest(live, asked.value);
  last.current = { job: job ?? last.current.job, isGone };
  const wasThere = last.current.job !== undefined;
  if (job === undefined) {
    return (
      <Page title="Job">
        {isGone ? (
          <Empty title={wasThere ? "This job was deleted." : `There is no job ${id}.`}>
            <p>
              {wasThere ? "All that came of it went with it. " : "It was deleted, or it is somebody else's. "}
              <a href="#/jobs">All jobs</a>
            </p>
          </Empty>
        ) : (
          <>
            {asked.isLoading && <Loading />}
            <Problem error={asked.error} onRetry={asked.reload} />
          </>
        )}
      </Page>
    );
  }
  return <KnownJob job={job} onChanged={asked.reload} />;
}

/** How often to ask for a job that the stream of events does not tell of. */
function followEveryMs(last: JobOut | undefined): number {
  return last !== undefined && hasEnded(last) ? LOOK_EVERY_MS : FOLLOW_EVERY_MS;
}

/** Events come with every count, and say nothing of a changed pace or limit. */
function newest(live: JobOut | undefined, asked: JobOut | undefined): JobOut | undefined {
  if (live === undefined || asked === undefined) return live ?? asked;
  return { ...live, politeness: asked.politeness, limits: asked.limits, archived: asked.archived };
}

function KnownJob({ job, onChanged }: { job: JobOut; onChanged: () => void }) {
  const [isChanging, setIsChanging] = useState(false);
  const title = job.name || job.id;
  useEffect(() => titleTab(title), [title]);
  const tabs = tabsOf(job);
  const current = tabs.find(({ id }) => id === place.value.query.tab) ?? tabs[0];
  const canChange = may("submit") && !hasEnded(job) && !job.archived;
  return (
    <Page
      title={<Scraped text={title} />}
      says={
        <span class="job-says">
          <JobState state={job.state} />
          {job.archived && <Badge tone="quiet">archived</Badge>}
          <code>{job.id}</code>
        </span>
      }
      actions={
        <>
          {canChange && (
            <button type="button" onClick={() => setIsChanging(true)}>
              Change
            </button>
          )}
          {may("submit") && (
            <a class="button" href={hrefOf(["jobs", "new"], { from: job.id })}>
              Edit as new
            </a>
          )}
          <JobActions job={job} onChanged={onChanged} onDeleted={() => go("#/jobs")} />
        </>
      }
    >
      <SubmittedNote id={job.id} />
      <JobNumbers job={job} />
      <Ledger job={job} />
      <Tabs label="Parts of the job" tabs={tabs} current={current?.id ?? ""} />
      {current?.show()}
      {isChanging && <ChangeDialog job={job} onChanged={onChanged} onClose={() => setIsChanging(false)} />}
    </Page>
  );
}

function tabsOf(job: JobOut): (Tab & { show: () => ComponentChildren })[] {
  const { tally, counts } = job;
  const failed = counts.dead + tally.invalid;
  return [
    { id: "records", title: "Records", count: short(tally.records), show: () => <RecordsTab job={job} /> },
    { id: "pages", title: "Pages", count: short(tally.pages), show: () => <PagesTab job={job} /> },
    { id: "sites", title: "Sites", show: () => <SitesTab job={job} /> },
    { id: "errors", title: "Errors", count: short(failed), show: () => <ErrorsTab job={job} /> },
    { id: "invalid", title: "Invalid", count: short(tally.invalid), show: () => <InvalidTab job={job} /> },
    { id: "timeline", title: "Timeline", show: () => <TimelineTab job={job} /> },
    { id: "explain", title: "Why it waits", show: () => <ExplainTab job={job} /> },
    { id: "spec", title: "Definition", show: () => <SpecTab job={job} /> },
  ];
}
