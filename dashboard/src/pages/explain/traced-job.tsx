/** How a whole job went: what failed, what was given up on, what took longest; each leads to its own story. */
import type { ComponentChildren } from "preact";
import type { JobTraceOut } from "../../../../src/api/wire-trace.ts";
import { hrefOf } from "../../router.ts";
import { JobState } from "../../ui/badge.tsx";
import { bytes, count, duration, plural } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { Stat } from "../../ui/stat.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import "./explain.css";

type Try = JobTraceOut["tries"][number];
type Slow = JobTraceOut["slowest"][number];
type Letter = JobTraceOut["dead"][number];

const TRIES: readonly Column<Try>[] = [
  { id: "fate", title: "Ended as", rem: 5, cell: ({ fate }) => fate },
  {
    id: "because",
    title: "Because",
    rem: 8,
    cell: ({ because, status }) => <Scraped text={status === null ? because : `${because} (${status})`} />,
  },
  {
    id: "tries",
    title: "Tries",
    tip: "How many ended so.",
    isNumber: true,
    rem: 4,
    grow: 0,
    cell: (one) => count(one.tries),
  },
  { id: "sample", title: "Such as", rem: 10, grow: 3, from: "tablet", cell: ({ sample }) => <Scraped text={sample} /> },
];

const SLOW: readonly Column<Slow>[] = [
  { id: "url", title: "Page", rem: 10, grow: 3, cell: ({ url }) => <Scraped text={url} /> },
  { id: "status", title: "Status", rem: 4, grow: 0, isNumber: true, cell: ({ status }) => status },
  {
    id: "lease",
    title: "Lease",
    tip: "From when a worker took it on to its result: the wait for the site's allowance, the request, the extraction, the store.",
    rem: 6,
    grow: 0,
    isNumber: true,
    cell: ({ leaseMs }) => duration(leaseMs),
  },
  {
    id: "took",
    title: "Request",
    tip: "From the request to the last byte of the answer.",
    rem: 6,
    grow: 0,
    isNumber: true,
    from: "tablet",
    cell: ({ tookMs }) => duration(tookMs),
  },
];

const DEAD: readonly Column<Letter>[] = [
  { id: "url", title: "Page", rem: 10, grow: 3, cell: ({ url }) => <Scraped text={url} /> },
  {
    id: "reason",
    title: "Reason",
    rem: 8,
    cell: ({ reason, status }) => (status === null ? reason : `${reason} (${status})`),
  },
  { id: "at", title: "When", rem: 6, grow: 0, from: "tablet", cell: ({ diedAt }) => <Ago at={diedAt} /> },
];

export function TracedJob({ traced }: { traced: JobTraceOut }) {
  const { job, tries, slowest, dead } = traced;
  const { counts, tally } = job;
  const left = counts.queued + counts.delayed + counts.leased;
  const storyOf = ({ taskId }: { taskId: string }) => hrefOf(["explain"], { q: taskId });
  return (
    <Card title="How it went" actions={<a href={hrefOf(["jobs", job.id])}>The job's page</a>}>
      <div class="card-body story">
        <div class="story-head">
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
          <Stat label="Pages" value={count(tally.pages)} tip="Pages that were fetched and kept." />
          <Stat label="Bytes" value={bytes(tally.bytes)} tip="Sum of their bodies, decompressed." />
          <Stat label="Records" value={count(tally.records)} tip="What was extracted from them." />
          <Stat
            label="Given up on"
            value={count(counts.dead)}
            tip="Dead letters: they can be replayed or discarded."
            tone={counts.dead > 0 ? "bad" : undefined}
          />
          <Stat label="Left" value={count(left)} tip="Queued, waiting for a retry, or under way." />
        </div>
        <Part title={`${plural(tries.length, "way", "ways")} in which tries ended without a page`} rows={tries}>
          <Table
            label="Tries without a page"
            class="is-short"
            columns={TRIES}
            rows={tries}
            keyOf={({ fate, because, status }) => `${fate} ${because} ${status}`}
            hrefOf={({ sample }) => hrefOf(["explain"], { q: sample })}
          />
        </Part>
        <Part title="The first that were given up on" rows={dead}>
          <Table
            label="Given up on"
            class="is-short"
            columns={DEAD}
            rows={dead}
            keyOf={({ taskId }) => taskId}
            hrefOf={storyOf}
          />
        </Part>
        <Part title="The longest from lease to result" rows={slowest}>
          <Table
            label="Longest leases"
            class="is-short"
            columns={SLOW}
            rows={slowest}
            keyOf={({ taskId }) => taskId}
            hrefOf={storyOf}
          />
        </Part>
      </div>
    </Card>
  );
}

function Part({ title, rows, children }: { title: string; rows: readonly unknown[]; children: ComponentChildren }) {
  if (rows.length === 0) return null;
  return (
    <section class="traced-part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}
