/** The history of a job: failed attempts, dead letters and slowest pages, each with a link to its timeline. */
import type { ComponentChildren } from "preact";
import type { JobTraceOut } from "../../../../src/client/wire-types.ts";
import { hrefOf } from "../../router.ts";
import { JobState } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { bytes, count, duration } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { Stat } from "../../ui/stat.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import "./explain.css";

type FailedAttempts = JobTraceOut["attempts"][number];
type SlowPage = JobTraceOut["slowest"][number];
type TracedLetter = JobTraceOut["dead"][number];

export const ATTEMPT_RESULTS: Readonly<Record<FailedAttempts["outcome"], string>> = {
  retry: "retried",
  dead: "failed",
  refused: "refused",
  returned: "requeued",
  passed: "passed on",
};

const ATTEMPTS: readonly Column<FailedAttempts>[] = [
  { id: "outcome", title: "Result", rem: 5, cell: ({ outcome }) => ATTEMPT_RESULTS[outcome] },
  {
    id: "because",
    title: "Reason",
    rem: 8,
    cell: ({ because, status }) => <Scraped text={status === null ? because : `${because} (${status})`} />,
  },
  {
    id: "attempts",
    title: "Attempts",
    tip: "Attempts with this result and reason.",
    isNumber: true,
    rem: 4.5,
    grow: 0,
    cell: (one) => count(one.count),
  },
  { id: "sample", title: "Example", rem: 10, grow: 3, from: "tablet", cell: ({ sample }) => <Scraped text={sample} /> },
];

const SLOWEST: readonly Column<SlowPage>[] = [
  { id: "url", title: "Page", rem: 10, grow: 3, cell: ({ url }) => <Scraped text={url} /> },
  { id: "status", title: "Status", rem: 4, grow: 0, isNumber: true, cell: ({ status }) => status },
  {
    id: "lease",
    title: "Lease",
    tip: "Time from the lease to the result. It includes the wait for the rate limit, the request, parsing and storing.",
    rem: 6,
    grow: 0,
    isNumber: true,
    cell: ({ leaseMs }) => duration(leaseMs),
  },
  {
    id: "took",
    title: "Request",
    tip: "Time from sending the request to the last byte of the response.",
    rem: 6,
    grow: 0,
    isNumber: true,
    from: "tablet",
    cell: ({ tookMs }) => duration(tookMs),
  },
];

const DEAD: readonly Column<TracedLetter>[] = [
  { id: "url", title: "Page", rem: 10, grow: 3, cell: ({ url }) => <Scraped text={url} /> },
  {
    id: "reason",
    title: "Reason",
    rem: 8,
    cell: ({ reason, status }) => (status === null ? reason : `${reason} (${status})`),
  },
  { id: "at", title: "Failed", rem: 6, grow: 0, from: "tablet", cell: ({ diedAt }) => <Ago at={diedAt} /> },
];

/** `isOnJobPage` hides the parts that the page of the job already shows. */
export function TracedJob({ traced, isOnJobPage = false }: { traced: JobTraceOut; isOnJobPage?: boolean }) {
  const { job, attempts, slowest, dead } = traced;
  const timelineOf = ({ taskId }: { taskId: string }) => hrefOf(["explain"], { q: taskId });
  const isEmpty = attempts.length + slowest.length + dead.length === 0;
  return (
    <Card title="History" actions={!isOnJobPage && <a href={hrefOf(["jobs", job.id])}>Open job</a>}>
      <div class="card-body trace">
        {!isOnJobPage && <JobSummary job={job} />}
        {isOnJobPage && isEmpty && <Empty title="No attempts yet." />}
        <Part title="Failed attempts by reason" rows={attempts}>
          <Table
            label="Failed attempts by reason"
            class="is-short"
            columns={ATTEMPTS}
            rows={attempts}
            keyOf={({ outcome, because, status }) => `${outcome} ${because} ${status}`}
            hrefOf={({ sample }) => hrefOf(["explain"], { q: sample })}
          />
        </Part>
        <Part title="First dead letters" rows={dead}>
          <Table
            label="Dead letters"
            class="is-short"
            columns={DEAD}
            rows={dead}
            keyOf={({ taskId }) => taskId}
            hrefOf={timelineOf}
          />
        </Part>
        <Part title="Slowest pages" rows={slowest}>
          <Table
            label="Slowest pages"
            class="is-short"
            columns={SLOWEST}
            rows={slowest}
            keyOf={({ taskId }) => taskId}
            hrefOf={timelineOf}
          />
        </Part>
      </div>
    </Card>
  );
}

function JobSummary({ job }: { job: JobTraceOut["job"] }) {
  const { counts, tally } = job;
  const left = counts.queued + counts.delayed + counts.leased;
  return (
    <>
      <div class="trace-head">
        <Scraped text={job.name} />
        <span class="mono">{job.id}</span>
        <JobState state={job.state} />
        <span>
          submitted <Ago at={job.createdAt} />
          {job.finishedAt !== null &&
            `, ended ${duration(Date.parse(job.finishedAt) - Date.parse(job.createdAt))} later`}
        </span>
      </div>
      <div class="stats">
        <Stat label="Pages" value={count(tally.pages)} tip="Pages that were fetched and stored." />
        <Stat label="Size" value={bytes(tally.bytes)} tip="Size of all bodies after decompression." />
        <Stat label="Records" value={count(tally.records)} tip="Records that were extracted from these pages." />
        <Stat
          label="Failed"
          value={count(counts.dead)}
          tip="URLs that failed permanently. They can be replayed or discarded."
          tone={counts.dead > 0 ? "bad" : undefined}
        />
        <Stat label="Remaining" value={count(left)} tip="URLs that are queued, waiting for a retry, or in flight." />
      </div>
    </>
  );
}

function Part({ title, rows, children }: { title: string; rows: readonly unknown[]; children: ComponentChildren }) {
  if (rows.length === 0) return null;
  return (
    <section class="trace-part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}
