/** The list of dead letters with checkboxes. A click on a row shows its attempts. */
import { useMemo, useState } from "preact/hooks";
import type { DeadOut } from "../../../../src/client/wire-types.ts";
import { liveJobs } from "../../live.ts";
import type { PagedRows } from "../../paged-rows.ts";
import { hrefOf } from "../../router.ts";
import { may } from "../../session.ts";
import { reasonText } from "../../ui/dead-reasons.ts";
import { count, plural } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Ago } from "../../ui/time.tsx";
import type { DeadAction } from "./dead-action-dialog.tsx";
import { LetterDialog } from "./letter-dialog.tsx";

type LettersProps = {
  letters: PagedRows<DeadOut>;
  selected: ReadonlySet<string>;
  onSelect: (selected: ReadonlySet<string>) => void;
  onAction: (verb: DeadAction["verb"], letter: DeadOut) => void;
};

export function Letters({ letters, selected, onSelect, onAction }: LettersProps) {
  const [opened, setOpened] = useState<DeadOut | undefined>(undefined);
  const { rows, isLoading, isWhole, loadMore } = letters;
  const isAll = rows.length > 0 && rows.every(({ taskId }) => selected.has(taskId));
  const columns = useMemo(() => {
    const shown = isWhole ? COLUMNS : COLUMNS.map(({ sortBy: _, ...column }) => column);
    return may("submit") ? [selectColumn(selected, onSelect), ...shown] : shown;
  }, [selected, onSelect, isWhole]);
  const countText = isWhole ? plural(rows.length, "dead letter") : `${count(rows.length)} loaded, oldest URLs first`;
  return (
    <Card
      title="All dead letters"
      actions={
        <span class="dead-select">
          <span class="muted">{countText}</span>
          {may("submit") && (
            <button
              type="button"
              class="small"
              onClick={() => onSelect(isAll ? new Set() : new Set(rows.map(({ taskId }) => taskId)))}
            >
              {isAll ? "Clear selection" : "Select all loaded"}
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
        isSelected={({ taskId }) => selected.has(taskId)}
        onOpen={setOpened}
        loadMore={loadMore}
        isLoading={isLoading}
      />
      {opened !== undefined && (
        <LetterDialog
          letter={opened}
          onClose={() => setOpened(undefined)}
          onAction={(verb) => {
            setOpened(undefined);
            onAction(verb, opened);
          }}
        />
      )}
    </Card>
  );
}

function selectColumn(selected: ReadonlySet<string>, onSelect: LettersProps["onSelect"]): Column<DeadOut> {
  return {
    id: "select",
    title: "",
    rem: 1.25,
    grow: 0,
    cell: ({ taskId, url }) => (
      <input
        type="checkbox"
        aria-label={`Select ${url.slice(0, 100)}`}
        checked={selected.has(taskId)}
        onChange={(event) => {
          const next = new Set(selected);
          if (event.currentTarget.checked) next.add(taskId);
          else next.delete(taskId);
          onSelect(next);
        }}
      />
    ),
  };
}

const NEWEST_FIRST = { by: "at", isDown: true };

/** The server lists dead letters by task id. Sorting needs all of them, so it is off until all are loaded. */
const COLUMNS: readonly Column<DeadOut>[] = [
  { id: "url", title: "URL", rem: 12, grow: 4, sortBy: ({ url }) => url, cell: ({ url }) => <Scraped text={url} /> },
  {
    id: "reason",
    title: "Reason",
    tip: "Why the URL failed, and the HTTP status.",
    rem: 10.5,
    from: "tablet",
    sortBy: ({ reason, status }) => `${reason} ${status ?? ""}`,
    cell: ({ reason, status, cause }) => reasonText(reason, status, cause),
  },
  {
    id: "last",
    title: "Last error",
    tip: "The error message of the last attempt.",
    rem: 8,
    grow: 2,
    from: "desktop",
    cell: ({ history }) => <Scraped text={history.at(-1)?.detail ?? history.at(-1)?.because ?? ""} />,
  },
  {
    id: "attempts",
    title: "Attempts",
    tip: "Number of attempts before the URL failed permanently.",
    isNumber: true,
    rem: 4.5,
    grow: 0,
    from: "tablet",
    sortBy: ({ history }) => history.length,
    cell: ({ history }) => count(history.length),
  },
  {
    id: "job",
    title: "Job",
    tip: "The job that the URL belongs to.",
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
    title: "Failed",
    rem: 6,
    grow: 0,
    from: "tablet",
    sortBy: ({ diedAt }) => diedAt,
    cell: ({ diedAt }) => <Ago at={diedAt} />,
  },
];

/** The name is only known for jobs that the event stream sends. */
function nameOf(jobId: string): string {
  return liveJobs.value?.get(jobId)?.name || jobId;
}
