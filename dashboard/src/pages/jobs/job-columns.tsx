import type { JobOut } from "../../../../src/client/client.ts";
import { JobState } from "../../ui/badge.tsx";
import { count, escapeBidi, percent, plural, short } from "../../ui/format.ts";
import { Progress } from "../../ui/progress.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import type { Column } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import { Tip } from "../../ui/tip.tsx";
import { JobActions } from "./job-actions.tsx";
import { allOf, settledOf } from "./job-counts.ts";
import { paceColumns } from "./pace-columns.ts";

export const JOB_COLUMNS: readonly Column<JobOut>[] = [
  { id: "name", title: "Job", rem: 7, grow: 3, cell: ({ name, id }) => <Scraped text={name || id} /> },
  {
    id: "state",
    title: "State",
    tip: "Running: the job has URLs left. Finished: it has no URLs left. Failed: no page could be fetched or processed. Archived jobs are read-only.",
    rem: 5.5,
    grow: 0,
    cell: ({ state }) => <JobState state={state} />,
  },
  {
    id: "progress",
    title: "Progress",
    tip: "Finished URLs, out of all URLs found so far. The total grows as links are discovered.",
    rem: 8,
    grow: 1,
    from: "tablet",
    cell: (job) => <JobProgress job={job} />,
  },
  {
    id: "records",
    title: "Records",
    tip: "Records that were extracted and stored.",
    isNumber: true,
    rem: 4.5,
    grow: 0,
    cell: ({ tally }) => (
      <Tip text={count(tally.records)} isUnfocusable class="plain">
        {short(tally.records)}
      </Tip>
    ),
  },
  {
    id: "dead",
    title: "Failed",
    tip: "URLs that failed permanently (dead letters).",
    isNumber: true,
    rem: 3.5,
    grow: 0,
    cell: ({ counts }) => <span class={counts.dead > 0 ? "is-bad" : ""}>{short(counts.dead)}</span>,
  },
  ...paceColumns("desktop"),
  {
    id: "age",
    title: "Started",
    tip: "When the job was submitted.",
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
    <Tip text={`${count(done)} of ${plural(all, "URL")}`} isUnfocusable class="plain job-progress">
      <Progress done={done} all={all} label={`Progress of ${escapeBidi(job.name)}`} />
      <span class="job-share">{percent(all === 0 ? null : done / all)}</span>
    </Tip>
  );
}
