/** One job: state, results, errors and actions. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { isApiError, type JobOut } from "../../../../src/client/client.ts";
import { liveJobs } from "../../live.ts";
import type { PageProps } from "../../pages.ts";
import { usePolled } from "../../polled.ts";
import { go, hrefOf, route } from "../../router.ts";
import { api, may } from "../../session.ts";
import { setTabTitle } from "../../tab-title.ts";
import { Badge, JobState } from "../../ui/badge.tsx";
import { Empty, Loading } from "../../ui/empty.tsx";
import { short } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { type Tab, Tabs } from "../../ui/tabs.tsx";
import { JobActions } from "../jobs/job-actions.tsx";
import { hasEnded } from "../jobs/job-counts.ts";
import { ChangeDialog } from "./change-dialog.tsx";
import { ErrorsTab } from "./errors-tab.tsx";
import { ExplainTab } from "./explain-tab.tsx";
import { InvalidTab } from "./invalid-tab.tsx";
import { JobStats } from "./job-stats.tsx";
import { Ledger } from "./ledger.tsx";
import { PagesTab } from "./pages-tab.tsx";
import { RecordsTab } from "./records-tab.tsx";
import { SitesTab } from "./sites-tab.tsx";
import { SpecTab } from "./spec-tab.tsx";
import { SubmitNotice } from "./submit-notice.tsx";
import { TimelineTab } from "./timeline-tab.tsx";
import "../jobs/jobs.css";
import "./job.css";

/** The poll interval for a job that has ended, and for a job in the event stream, whose settings must be polled. */
const POLL_MS = 5_000;
/** The poll interval for an active job that the event stream does not send. */
const UNSTREAMED_POLL_MS = 2_000;

export function JobPage({ rest }: PageProps) {
  const [id = ""] = rest;
  return <OneJob key={id} id={id} />;
}

function OneJob({ id }: { id: string }) {
  const live = liveJobs.value?.get(id);
  const isOver = live !== undefined && hasEnded(live);
  const last = useRef<{ job: JobOut | undefined; isGone: boolean }>({ job: undefined, isGone: false });
  const everyMs = isOver || last.current.isGone ? 0 : live === undefined ? unstreamedPollMs(last.current.job) : POLL_MS;
  const polled = usePolled((signal) => api().job(id).state({ signal }), everyMs, [id, isOver]);
  const isGone = isApiError(polled.error, "NOT_FOUND");
  const job = isGone ? undefined : newest(live, polled.value);
  last.current = { job: job ?? last.current.job, isGone };
  const wasLoaded = last.current.job !== undefined;
  if (job === undefined) {
    return (
      <Page title="Job">
        {isGone ? (
          <Empty title={wasLoaded ? "This job was deleted." : `Job ${id} does not exist.`}>
            <p>
              {wasLoaded
                ? "Its pages and records were deleted too. "
                : "It was deleted, or your key has no access to it. "}
              <a href="#/jobs">Show all jobs</a>
            </p>
          </Empty>
        ) : (
          <>
            {polled.isLoading && <Loading />}
            <Problem error={polled.error} onRetry={polled.reload} />
          </>
        )}
      </Page>
    );
  }
  return <LoadedJob job={job} onChanged={polled.reload} />;
}

function unstreamedPollMs(last: JobOut | undefined): number {
  return last !== undefined && hasEnded(last) ? POLL_MS : UNSTREAMED_POLL_MS;
}

/** Events have the newest counts. Politeness and limits are polled, because no event is sent when only they change. */
function newest(live: JobOut | undefined, polled: JobOut | undefined): JobOut | undefined {
  if (live === undefined || polled === undefined) return live ?? polled;
  return { ...live, politeness: polled.politeness, limits: polled.limits, archived: polled.archived };
}

function LoadedJob({ job, onChanged }: { job: JobOut; onChanged: () => void }) {
  const [isChanging, setIsChanging] = useState(false);
  const title = job.name || job.id;
  useEffect(() => setTabTitle(title), [title]);
  const tabs = tabsOf(job);
  const current = tabs.find(({ id }) => id === route.value.query.tab) ?? tabs[0];
  const canChange = may("submit") && !hasEnded(job) && !job.archived;
  return (
    <Page
      title={<Scraped text={title} />}
      subtitle={
        <span class="job-subtitle">
          <JobState state={job.state} />
          {job.archived && <Badge tone="neutral">archived</Badge>}
          <code>{job.id}</code>
        </span>
      }
      actions={
        <>
          {canChange && (
            <button type="button" onClick={() => setIsChanging(true)}>
              Edit limits
            </button>
          )}
          {may("submit") && (
            <a class="button" href={hrefOf(["jobs", "new"], { from: job.id })}>
              Copy to new job
            </a>
          )}
          <JobActions job={job} onChanged={onChanged} onDeleted={() => go("#/jobs")} />
        </>
      }
    >
      <SubmitNotice id={job.id} />
      <JobStats job={job} />
      <Ledger job={job} />
      <Tabs label="Job" tabs={tabs} current={current?.id ?? ""} />
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
    { id: "explain", title: "Explain", show: () => <ExplainTab job={job} /> },
    { id: "spec", title: "Definition", show: () => <SpecTab job={job} /> },
  ];
}
