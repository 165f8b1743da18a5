import type { SiteDetailOut } from "../../../../src/api/wire-sites.ts";
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
    tip: "Requests of this job under way there.",
    isNumber: true,
    rem: 5,
    from: "tablet",
    cell: ({ inFlight }) => count(inFlight),
    sortBy: ({ inFlight }) => inFlight,
  },
  {
    id: "asks",
    title: "Asks for",
    tip: "What the job asks for at this site. A site gets the strictest of its jobs; what a paused one asks for does not count.",
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
          says="This job sets the rate of the site. Change it on the job's page, or set the site's own here."
          isQuiet
        >
          <Badge tone="busy">sets the rate</Badge>
        </Tip>
      ) : state === "paused" ? (
        <span class="quiet">waits for its resume</span>
      ) : null,
  },
];

export function SiteJobs({ site: { jobs } }: { site: SiteDetailOut }) {
  return (
    <Card title="Who waits here">
      <Table
        label="Jobs at this site"
        columns={COLUMNS}
        rows={jobs}
        keyOf={({ jobId }) => jobId}
        hrefOf={({ jobId }) => hrefOf(["jobs", jobId])}
        empty={<Empty title="No job has anything here now." />}
      />
    </Card>
  );
}
