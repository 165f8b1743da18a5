/** What went wrong, by reason: where to begin when a job brings less than it should. */
import { useState } from "preact/hooks";
import type { DeadGroupOut } from "../../../../src/api/wire-fleet.ts";
import type { JobErrorsOut } from "../../../../src/api/wire-types.ts";
import type { JobOut } from "../../../../src/client/client.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf } from "../../router.ts";
import { api, may } from "../../session.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { Empty, Loading } from "../../ui/empty.tsx";
import { count, plural } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped, ScrapedLink } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";

const SAMPLE_COLUMN: Column<{ sample: string }> = {
  id: "sample",
  title: "One of them",
  rem: 12,
  grow: 2,
  from: "tablet",
  cell: ({ sample }) => <ScrapedLink url={sample} />,
};

const PER_SECOND = 10;
/** Counting them is work: looked at again only where the numbers have changed, and not faster than this. */
const LOOK_EVERY_MS = 10_000;

export function ErrorsTab({ job }: { job: JobOut }) {
  const [replayed, setReplayed] = useState<DeadGroupOut | undefined>(undefined);
  const isOver = job.finishedAt !== null;
  const { value, error, isLoading, reload } = usePolled(
    (signal) => api().job(job.id).errors({ signal }),
    isOver ? 0 : LOOK_EVERY_MS,
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
      <Card title="Given up on" actions={<a href={hrefOf(["dead"], { job: job.id })}>All dead letters of the job</a>}>
        <Table
          label="Dead letters by reason"
          columns={canReplay ? [...deadColumns(job), replayColumn(setReplayed)] : deadColumns(job)}
          rows={value.dead}
          keyOf={({ reason, site, status }) => `${reason} ${site} ${status}`}
          empty={<Empty title="Nothing was given up on." />}
        />
      </Card>
      <Tries tries={value.tries} />
      <Invalid invalid={value.invalid} job={job} />
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
      cell: ({ reason, site, status }) => (
        <a href={hrefOf(["dead"], { job: job.id, reason, site, status: status ?? undefined })}>{reason}</a>
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
    title: "Again",
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
        const which = { job: job.id, reason, site, ...(status === null ? {} : { status }) };
        await api().dead.replay(which, { perSecond: PER_SECOND });
        onDone();
      }}
      onClose={onClose}
    >
      <p>
        All of this job that died of {reason}
        {status === null ? "" : ` ${status}`} at {site} are queued again, {PER_SECOND} a second. A finished job runs
        again with them.
      </p>
    </Confirm>
  );
}

const FATES: Readonly<Record<string, string>> = {
  retry: "tried again",
  dead: "given up on",
  refused: "refused",
  returned: "handed back",
  passed: "passed on",
};

const TRY_COLUMNS: readonly Column<JobErrorsOut["tries"][number]>[] = [
  { id: "because", title: "Because", rem: 5.5, cell: ({ because }) => <Scraped text={because} /> },
  { id: "status", title: "Status", rem: 3.5, grow: 0, cell: ({ status }) => status ?? "" },
  {
    id: "fate",
    title: "And then",
    tip: "What became of the URL after the try.",
    rem: 6,
    grow: 0,
    cell: ({ fate }) => FATES[fate] ?? fate,
  },
  { id: "count", title: "Tries", isNumber: true, rem: 3.5, grow: 0, cell: (group) => count(group.count) },
  SAMPLE_COLUMN,
];

function Tries({ tries }: Pick<JobErrorsOut, "tries">) {
  return (
    <Card title="Tries that ended without a page">
      <Table
        label="Tries by reason"
        columns={TRY_COLUMNS}
        rows={tries}
        keyOf={({ fate, because, status }) => `${fate} ${because} ${status}`}
        empty={<Empty title="Every try has brought a page." />}
      />
    </Card>
  );
}

const INVALID_COLUMNS: readonly Column<JobErrorsOut["invalid"]["groups"][number]>[] = [
  { id: "reason", title: "What is wrong", rem: 14, grow: 3, cell: ({ reason }) => <Scraped text={reason} /> },
  { id: "count", title: "Records", isNumber: true, rem: 5, grow: 0, cell: (group) => count(group.count) },
  SAMPLE_COLUMN,
];

function Invalid({ invalid, job }: Pick<JobErrorsOut, "invalid"> & { job: JobOut }) {
  const { groups, looked, total } = invalid;
  return (
    <Card
      title="Invalid records"
      actions={total > 0 && <a href={hrefOf(["jobs", job.id], { tab: "invalid" })}>All {count(total)}</a>}
    >
      <Table
        label="Invalid records by reason"
        columns={INVALID_COLUMNS}
        rows={groups}
        keyOf={({ reason }) => reason}
        empty={<Empty title="Every record is as its rules ask for." />}
      />
      {total > looked && <p class="card-body quiet">Of the first {count(looked)}.</p>}
    </Card>
  );
}
