/** What became of the slots of a schedule, newest first. */
import type { RunOut } from "../../../../src/api/wire-schedules.ts";
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
  skipped: "quiet",
  failed: "bad",
};

const COLUMNS: readonly Column<RunOut>[] = [
  { id: "at", title: "Slot", tip: "When it was to be.", rem: 6, cell: ({ at }) => <Ago at={at} /> },
  {
    id: "state",
    title: "What became of it",
    tip: "fired: its job was submitted. skipped: passed over, with the reason. waiting: for the run before, or a quota.",
    rem: 8,
    cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge>,
  },
  {
    id: "kind",
    title: "Why",
    tip: "Of its time, or because somebody asked for it.",
    rem: 6,
    from: "tablet",
    cell: ({ kind }) => (kind === "timed" ? "its time" : "asked for"),
  },
  {
    id: "job",
    title: "Job",
    tip: "The job it led to.",
    rem: 14,
    cell: ({ jobId }) => (jobId === null ? UNKNOWN : <a href={hrefOf(["jobs", jobId])}>{jobId}</a>),
  },
  {
    id: "because",
    title: "Because",
    rem: 8,
    grow: 2,
    from: "tablet",
    cell: ({ because }) => <Scraped text={because ?? ""} />,
  },
];

export function ScheduleRuns({ runs }: { runs: readonly RunOut[] }) {
  return (
    <Card title="Last runs">
      <Table
        label="Last runs"
        class="is-short"
        columns={COLUMNS}
        rows={runs}
        keyOf={({ at, kind }) => `${at} ${kind}`}
        empty={
          <Empty title="It has not run yet.">
            <p>Its first run comes at its time, as long as a server runs; Run now does not wait.</p>
          </Empty>
        }
      />
    </Card>
  );
}
