/** The letters one by one, to be picked; a row opens its history. */
import { useMemo, useState } from "preact/hooks";
import type { DeadOut } from "../../../../src/api/wire-fleet.ts";
import type { Listing } from "../../listing.ts";
import { liveJobs } from "../../live.ts";
import { hrefOf } from "../../router.ts";
import { may } from "../../session.ts";
import { count, plural } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import type { Dealing } from "./deal-dialog.tsx";
import { LetterDialog } from "./letter-dialog.tsx";

type LettersProps = {
  letters: Listing<DeadOut>;
  picked: ReadonlySet<string>;
  onPick: (picked: ReadonlySet<string>) => void;
  onDeal: (verb: Dealing["verb"], letter: DeadOut) => void;
};

export function Letters({ letters, picked, onPick, onDeal }: LettersProps) {
  const [opened, setOpened] = useState<DeadOut | undefined>(undefined);
  const { rows, isLoading, isWhole, loadMore } = letters;
  const isAll = rows.length > 0 && rows.every(({ taskId }) => picked.has(taskId));
  const columns = useMemo(() => {
    const shown = isWhole ? COLUMNS : COLUMNS.map(({ sortBy: _, ...column }) => column);
    return may("submit") ? [pickColumn(picked, onPick), ...shown] : shown;
  }, [picked, onPick, isWhole]);
  const said = isWhole ? plural(rows.length, "letter") : `${count(rows.length)} so far, as they were queued`;
  return (
    <Card
      title="One by one"
      actions={
        <span class="dead-pick">
          <span class="quiet">{said}</span>
          {may("submit") && (
            <button
              type="button"
              class="small"
              onClick={() => onPick(isAll ? new Set() : new Set(rows.map(({ taskId }) => taskId)))}
            >
              {isAll ? "Pick none" : "Pick all that are shown"}
            </button>
          )}
        </span>
      }
    >
      <Table
        label="Dead letters"
        columns={columns}
        rows={rows}
        keyOf={({ taskId }) => taskId}
        sort={NEWEST_FIRST}
        isMarked={({ taskId }) => picked.has(taskId)}
        onOpen={setOpened}
        loadMore={loadMore}
        isLoading={isLoading}
      />
      {opened !== undefined && (
        <LetterDialog
          letter={opened}
          onClose={() => setOpened(undefined)}
          onDeal={(verb) => {
            setOpened(undefined);
            onDeal(verb, opened);
          }}
        />
      )}
    </Card>
  );
}

function pickColumn(picked: ReadonlySet<string>, onPick: LettersProps["onPick"]): Column<DeadOut> {
  return {
    id: "pick",
    title: "",
    rem: 1.25,
    grow: 0,
    cell: ({ taskId, url }) => (
      <input
        type="checkbox"
        aria-label={`Pick ${url.slice(0, 100)}`}
        checked={picked.has(taskId)}
        onChange={(event) => {
          const next = new Set(picked);
          if (event.currentTarget.checked) next.add(taskId);
          else next.delete(taskId);
          onPick(next);
        }}
      />
    ),
  };
}

const NEWEST_FIRST = { by: "at", isDown: true };

/** The server lists them as they were queued: any other order takes all of them. */
const COLUMNS: readonly Column<DeadOut>[] = [
  { id: "url", title: "URL", rem: 12, grow: 4, sortBy: ({ url }) => url, cell: ({ url }) => <Scraped text={url} /> },
  {
    id: "reason",
    title: "Reason",
    tip: "Why it was given up on, and what the site answered with.",
    rem: 10.5,
    from: "tablet",
    sortBy: ({ reason, status }) => `${reason} ${status ?? ""}`,
    cell: ({ reason, status }) => (status === null ? reason : `${reason} (${status})`),
  },
  {
    id: "last",
    title: "Last try",
    tip: "What the last try ended with, in the words of the worker.",
    rem: 8,
    grow: 2,
    from: "desk",
    cell: ({ history }) => <Scraped text={history.at(-1)?.detail ?? history.at(-1)?.because ?? ""} />,
  },
  {
    id: "tries",
    title: "Tries",
    tip: "How often it was tried before it was given up on.",
    isNumber: true,
    rem: 3,
    grow: 0,
    from: "tablet",
    sortBy: ({ history }) => history.length,
    cell: ({ history }) => count(history.length),
  },
  {
    id: "job",
    title: "Job",
    tip: "The job it is of.",
    rem: 7,
    grow: 2,
    from: "laptop",
    sortBy: ({ jobId }) => nameOf(jobId),
    cell: ({ jobId }) => (
      <a href={hrefOf(["jobs", jobId])}>
        <Scraped text={nameOf(jobId)} />
      </a>
    ),
  },
  {
    id: "at",
    title: "Given up on",
    rem: 6,
    grow: 0,
    from: "tablet",
    sortBy: ({ diedAt }) => diedAt,
    cell: ({ diedAt }) => <Ago at={diedAt} />,
  },
];

/** Of jobs that the stream of events does not tell of only the id is known. */
function nameOf(jobId: string): string {
  return liveJobs.value?.get(jobId)?.name || jobId;
}
