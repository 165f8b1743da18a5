import type { JobOut } from "../../../../src/client/client.ts";
import { hrefOf } from "../../router.ts";
import { JobState } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count, escapeBidi } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Progress } from "../../ui/progress.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { allOf, settledOf } from "../jobs/job-counts.ts";
import { paceColumns } from "../jobs/pace-columns.ts";

const COLUMNS: readonly Column<JobOut>[] = [
  { id: "name", title: "Job", rem: 8, grow: 2, cell: ({ name, id }) => <Scraped text={name || id} /> },
  { id: "state", title: "State", rem: 5.5, grow: 0, cell: ({ state }) => <JobState state={state} /> },
  {
    id: "progress",
    title: "Progress",
    tip: "Finished URLs, out of all URLs found so far. The total grows as links are discovered.",
    rem: 6,
    grow: 2,
    cell: (job) => <Progress done={settledOf(job)} all={allOf(job)} label={`Progress of ${escapeBidi(job.name)}`} />,
  },
  {
    id: "done",
    title: "Done",
    tip: "URLs that are done, failed or cancelled, out of all URLs found so far.",
    isNumber: true,
    rem: 9,
    from: "tablet",
    cell: (job) => `${count(settledOf(job))} / ${count(allOf(job))}`,
  },
  ...paceColumns("tablet"),
];

export function ActiveJobs({ jobs }: { jobs: readonly JobOut[] }) {
  const active = jobs.filter(({ state }) => state === "running" || state === "paused");
  active.sort((one, other) => other.createdAt.localeCompare(one.createdAt));
  return (
    <Card title="Active jobs" actions={<a href="#/jobs">All jobs</a>}>
      <Table
        label="Active jobs"
        class="is-short"
        columns={COLUMNS}
        rows={active}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => hrefOf(["jobs", id])}
        empty={<Empty title="No active jobs." />}
      />
    </Card>
  );
}
