/** The errors of a job by reason: dead letters, failed attempts and invalid records. */
import { useState } from "preact/hooks";
import type { JobOut } from "../../../../src/client/client.ts";
import type { DeadGroupOut, JobErrorsOut } from "../../../../src/client/wire-types.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf } from "../../router.ts";
import { api, may } from "../../session.ts";
import { reasonText } from "../../ui/dead-reasons.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { Empty, Loading } from "../../ui/empty.tsx";
import { count, plural } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped, ScrapedLink } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { ATTEMPT_RESULTS } from "../explain/traced-job.tsx";

const SAMPLE_COLUMN: Column<{ sample: string }> = {
  id: "sample",
  title: "Example",
  rem: 12,
  grow: 2,
  from: "tablet",
  cell: ({ sample }) => <ScrapedLink url={sample} />,
};

const PER_SECOND = 10;
/** Counting errors is expensive for the broker and the store. */
const POLL_MS = 10_000;

export function ErrorsTab({ job }: { job: JobOut }) {
  const [replayed, setReplayed] = useState<DeadGroupOut | undefined>(undefined);
  const isOver = job.finishedAt !== null;
  const { value, error, isLoading, reload } = usePolled(
    (signal) => api().job(job.id).errors({ signal }),
    isOver ? 0 : POLL_MS,
    [job.id, isOver],
  );
  if (value === undefined) {
    return (
      <>
        {isLoading && <Loading />}
        <Problem error={error} onRetry={reload} />
      </>
    );
  }
  const canReplay = may("submit") && !job.archived;
  return (
    <>
      <Problem error={error} onRetry={reload} />
      <Card title="Failed URLs" actions={<a href={hrefOf(["dead"], { job: job.id })}>Dead letters of this job</a>}>
        <Table
          label="Dead letters by reason"
          columns={canReplay ? [...deadColumns(job), replayColumn(setReplayed)] : deadColumns(job)}
          rows={value.dead}
          keyOf={({ reason, site, status }) => `${reason} ${site} ${status}`}
          empty={<Empty title="No failed URLs." />}
        />
      </Card>
      <FailedAttempts attempts={value.attempts} />
      <InvalidRecords invalid={value.invalid} job={job} />
      {replayed !== undefined && (
        <ConfirmReplay job={job} group={replayed} onDone={reload} onClose={() => setReplayed(undefined)} />
      )}
    </>
  );
}

function deadColumns(job: JobOut): readonly Column<DeadGroupOut>[] {
  return [
    {
      id: "reason",
      title: "Reason",
      rem: 9,
      cell: ({ reason, site, status, cause }) => (
        <a href={hrefOf(["dead"], { job: job.id, reason, site, status: status ?? undefined })}>
          {reasonText(reason, null, cause === `HTTP ${status}` ? null : cause)}
        </a>
      ),
    },
    { id: "status", title: "Status", rem: 4, grow: 0, cell: ({ status }) => status ?? "" },
    { id: "site", title: "Site", rem: 8, from: "tablet", cell: ({ site }) => <Scraped text={site} /> },
    { id: "count", title: "URLs", isNumber: true, rem: 4, grow: 0, cell: (group) => count(group.count) },
    SAMPLE_COLUMN,
  ];
}

function replayColumn(onReplay: (group: DeadGroupOut) => void): Column<DeadGroupOut> {
  return {
    id: "replay",
    title: "Actions",
    rem: 5,
    grow: 0,
    cell: (group) => (
      <button type="button" class="small" onClick={() => onReplay(group)}>
        Replay
      </button>
    ),
  };
}

type ReplayProps = { job: JobOut; group: DeadGroupOut; onDone: () => void; onClose: () => void };

function ConfirmReplay({ job, group, onDone, onClose }: ReplayProps) {
  const { reason, site, status } = group;
  return (
    <Confirm
      title={`Replay ${plural(group.count, "dead letter")}?`}
      verb="Replay"
      act={async () => {
        const filter = { job: job.id, reason, site, ...(status === null ? {} : { status }) };
        await api().dead.replay(filter, { perSecond: PER_SECOND });
        onDone();
      }}
      onClose={onClose}
    >
      <p>
        All dead letters of this job with the reason {reason}
        {status === null ? "" : ` (${status})`} at {site} are queued again, {PER_SECOND} per second. A finished job runs
        again.
      </p>
    </Confirm>
  );
}

const ATTEMPT_COLUMNS: readonly Column<JobErrorsOut["attempts"][number]>[] = [
  { id: "because", title: "Reason", rem: 5.5, cell: ({ because }) => <Scraped text={because} /> },
  { id: "status", title: "Status", rem: 3.5, grow: 0, cell: ({ status }) => status ?? "" },
  {
    id: "outcome",
    title: "Result",
    tip: "What happened to the URL after the attempt.",
    rem: 6,
    grow: 0,
    cell: ({ outcome }) => ATTEMPT_RESULTS[outcome],
  },
  { id: "count", title: "Attempts", isNumber: true, rem: 4.5, grow: 0, cell: (group) => count(group.count) },
  SAMPLE_COLUMN,
];

function FailedAttempts({ attempts }: { attempts: JobErrorsOut["attempts"] }) {
  return (
    <Card title="Failed attempts">
      <Table
        label="Failed attempts by reason"
        columns={ATTEMPT_COLUMNS}
        rows={attempts}
        keyOf={({ outcome, because, status }) => `${outcome} ${because} ${status}`}
        empty={<Empty title="No failed attempts." />}
      />
    </Card>
  );
}

const INVALID_COLUMNS: readonly Column<JobErrorsOut["invalid"]["groups"][number]>[] = [
  { id: "reason", title: "Problem", rem: 14, grow: 3, cell: ({ reason }) => <Scraped text={reason} /> },
  { id: "count", title: "Records", isNumber: true, rem: 5, grow: 0, cell: (group) => count(group.count) },
  SAMPLE_COLUMN,
];

function InvalidRecords({ invalid, job }: Pick<JobErrorsOut, "invalid"> & { job: JobOut }) {
  const { groups, searched, total } = invalid;
  return (
    <Card
      title="Invalid records"
      actions={total > 0 && <a href={hrefOf(["jobs", job.id], { tab: "invalid" })}>Show all {count(total)}</a>}
    >
      <Table
        label="Invalid records by reason"
        columns={INVALID_COLUMNS}
        rows={groups}
        keyOf={({ reason }) => reason}
        empty={<Empty title="No invalid records." />}
      />
      {total > searched && <p class="card-body muted">Only the first {count(searched)} invalid records are counted.</p>}
    </Card>
  );
}
