/** The recent runs of a schedule, newest first. */
import type { RunOut } from "../../../../src/client/wire-types.ts";
import { hrefOf } from "../../router.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { UNKNOWN } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";

const TONES: Readonly<Record<RunOut["state"], Tone>> = {
  waiting: "warn",
  firing: "busy",
  fired: "good",
  skipped: "neutral",
  failed: "bad",
};

const COLUMNS: readonly Column<RunOut>[] = [
  { id: "at", title: "Due", tip: "When the run was due.", rem: 6, cell: ({ at }) => <Ago at={at} /> },
  {
    id: "state",
    title: "Result",
    tip: "fired: the job was submitted.\nskipped, failed: no job was submitted; see the reason.\nwaiting: the run waits for the previous run or a quota.\nfiring: the job is being submitted.",
    rem: 8,
    cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge>,
  },
  {
    id: "kind",
    title: "Trigger",
    tip: "schedule: started at its due time.\nmanual: started with Run now.",
    rem: 6,
    from: "tablet",
    cell: ({ kind }) => (kind === "timed" ? "schedule" : "manual"),
  },
  {
    id: "job",
    title: "Job",
    tip: "The job that the run submitted.",
    rem: 14,
    cell: ({ jobId }) => (jobId === null ? UNKNOWN : <a href={hrefOf(["jobs", jobId])}>{jobId}</a>),
  },
  {
    id: "because",
    title: "Reason",
    rem: 8,
    grow: 2,
    from: "tablet",
    cell: ({ because }) => <Scraped text={because ?? ""} />,
  },
];

export function ScheduleRuns({ runs }: { runs: readonly RunOut[] }) {
  return (
    <Card title="Recent runs">
      <Table
        label="Recent runs"
        class="is-short"
        columns={COLUMNS}
        rows={runs}
        keyOf={({ at, kind }) => `${at} ${kind}`}
        empty={
          <Empty title="No runs yet.">
            <p>The schedule runs when it is due, while a server is running. Use Run now to start it immediately.</p>
          </Empty>
        }
      />
    </Card>
  );
}
