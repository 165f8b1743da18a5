import type { SiteDetailOut } from "../../../../src/client/wire-types.ts";
import { hrefOf } from "../../router.ts";
import { Badge, JobState } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Tip } from "../../ui/tip.tsx";

type SiteJob = SiteDetailOut["jobs"][number];

const COLUMNS: readonly Column<SiteJob>[] = [
  { id: "name", title: "Job", rem: 8, grow: 3, cell: ({ name, jobId }) => <Scraped text={name || jobId} /> },
  { id: "state", title: "State", rem: 5.5, grow: 0, cell: ({ state }) => <JobState state={state} /> },
  {
    id: "waiting",
    title: "Waiting",
    tip: "URLs of this job that wait for this site.",
    isNumber: true,
    rem: 4.5,
    cell: ({ waiting }) => count(waiting),
    sortBy: ({ waiting }) => waiting,
  },
  {
    id: "inFlight",
    title: "In flight",
    tip: "Requests of this job that are in flight at this site.",
    isNumber: true,
    rem: 5,
    from: "tablet",
    cell: ({ inFlight }) => count(inFlight),
    sortBy: ({ inFlight }) => inFlight,
  },
  {
    id: "rate",
    title: "Job's rate",
    tip: "The rate limit of the job. The site uses the strictest rate of its jobs. Paused jobs do not count.",
    isNumber: true,
    rem: 5,
    from: "tablet",
    cell: ({ rate }) => rate,
  },
  {
    id: "why",
    title: "",
    rem: 7,
    from: "tablet",
    cell: ({ isStrictest, state }) =>
      isStrictest ? (
        <Tip
          text="The rate of this job applies to the site. Change it on the page of the job, or set an override here."
          isUnfocusable
        >
          <Badge tone="busy">strictest</Badge>
        </Tip>
      ) : state === "paused" ? (
        <span class="muted">paused</span>
      ) : null,
  },
];

export function SiteJobs({ site: { jobs } }: { site: SiteDetailOut }) {
  return (
    <Card title="Jobs">
      <Table
        label="Jobs at this site"
        columns={COLUMNS}
        rows={jobs}
        keyOf={({ jobId }) => jobId}
        hrefOf={({ jobId }) => hrefOf(["jobs", jobId])}
        empty={<Empty title="No job has URLs at this site." />}
      />
    </Card>
  );
}
