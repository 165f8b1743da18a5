import type { JobOut } from "../../../../src/client/client.ts";
import { hrefOf } from "../../router.ts";
import { JobState } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { count, unturned } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Progress } from "../../ui/progress.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { allOf, settledOf } from "../jobs/job-numbers.ts";
import { paceColumns } from "../jobs/pace-columns.ts";

const COLUMNS: readonly Column<JobOut>[] = [
  { id: "name", title: "Job", rem: 8, grow: 2, cell: ({ name, id }) => <Scraped text={name || id} /> },
  { id: "state", title: "State", rem: 5.5, grow: 0, cell: ({ state }) => <JobState state={state} /> },
  {
    id: "progress",
    title: "Progress",
    tip: "URLs that are done with, of those that the job has had until now; links that are found make it longer.",
    rem: 6,
    grow: 2,
    cell: (job) => <Progress done={settledOf(job)} all={allOf(job)} label={`Progress of ${unturned(job.name)}`} />,
  },
  {
    id: "done",
    title: "Done",
    tip: "URLs that are fetched, given up on or cancelled, of those that the job has had until now.",
    isNumber: true,
    rem: 9,
    from: "tablet",
    cell: (job) => `${count(settledOf(job))} / ${count(allOf(job))}`,
  },
  ...paceColumns("tablet"),
];

export function JobsUnderWay({ jobs }: { jobs: readonly JobOut[] }) {
  const underWay = jobs.filter(({ state }) => state === "running" || state === "paused");
  underWay.sort((one, other) => other.createdAt.localeCompare(one.createdAt));
  return (
    <Card title="Jobs under way" actions={<a href="#/jobs">All jobs</a>}>
      <Table
        label="Jobs under way"
        class="is-short"
        columns={COLUMNS}
        rows={underWay}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => hrefOf(["jobs", id])}
        empty={<Empty title="No job is under way." />}
      />
    </Card>
  );
}
