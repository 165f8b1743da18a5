import type { JobOut } from "../../../../src/client/client.ts";
import { JobState } from "../../ui/badge.tsx";
import { count, percent, plural, short, unturned } from "../../ui/format.ts";
import { Progress } from "../../ui/progress.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import type { Column } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { Tip } from "../../ui/tip.tsx";
import { JobActions } from "./job-actions.tsx";
import { allOf, settledOf } from "./job-numbers.ts";
import { paceColumns } from "./pace-columns.ts";

export const JOB_COLUMNS: readonly Column<JobOut>[] = [
  { id: "name", title: "Job", rem: 7, grow: 3, cell: ({ name, id }) => <Scraped text={name || id} /> },
  {
    id: "state",
    title: "State",
    tip: "Running jobs have URLs left. Failed ones came to nothing. Archived ones have left the broker: they can be looked at only.",
    rem: 5.5,
    grow: 0,
    cell: ({ state }) => <JobState state={state} />,
  },
  {
    id: "progress",
    title: "Progress",
    tip: "URLs that are done with, of those that the job has had until now; links that are found make it longer.",
    rem: 8,
    grow: 1,
    from: "tablet",
    cell: (job) => <JobProgress job={job} />,
  },
  {
    id: "records",
    title: "Records",
    tip: "What was extracted and stored.",
    isNumber: true,
    rem: 4.5,
    grow: 0,
    cell: ({ tally }) => (
      <Tip says={count(tally.records)} isQuiet class="plain">
        {short(tally.records)}
      </Tip>
    ),
  },
  {
    id: "dead",
    title: "Dead",
    tip: "URLs that were given up on.",
    isNumber: true,
    rem: 3.5,
    grow: 0,
    cell: ({ counts }) => <span class={counts.dead > 0 ? "is-bad" : ""}>{short(counts.dead)}</span>,
  },
  ...paceColumns("desk"),
  {
    id: "age",
    title: "Begun",
    tip: "When it was submitted.",
    isNumber: true,
    rem: 6.5,
    grow: 0,
    from: "tablet",
    cell: ({ createdAt }) => <Ago at={createdAt} />,
  },
  {
    id: "actions",
    title: "Actions",
    rem: 9.5,
    grow: 0,
    from: "laptop",
    cell: (job) => <JobActions job={job} isSmall />,
  },
];

function JobProgress({ job }: { job: JobOut }) {
  const [done, all] = [settledOf(job), allOf(job)];
  return (
    <Tip says={`${count(done)} of ${plural(all, "URL")}`} isQuiet class="plain job-progress">
      <Progress done={done} all={all} label={`Progress of ${unturned(job.name)}`} />
      <span class="job-share">{percent(all === 0 ? null : done / all)}</span>
    </Tip>
  );
}
