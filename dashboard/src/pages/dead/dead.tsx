/** Dead letters: URLs that failed permanently, as groups and as a list, with replay and discard. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isApiError } from "../../../../src/client/api-error.ts";
import type { DeadFilter } from "../../../../src/client/client.ts";
import type { DeadOut } from "../../../../src/client/wire-types.ts";
import { type PagedRows, useIteratedRows } from "../../paged-rows.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf, route } from "../../router.ts";
import { api, may, session } from "../../session.ts";
import { Empty, Loading } from "../../ui/empty.tsx";
import { count, plural } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { ChooseJob } from "./choose-job.tsx";
import { type DeadAction, DeadActionDialog } from "./dead-action-dialog.tsx";
import { DeadActionNotice, type DeadActionResult } from "./dead-action-notice.tsx";
import type { DeadSelection } from "./dead-actions.ts";
import { filterOf } from "./dead-filter.ts";
import { Filters } from "./filters.tsx";
import { Groups } from "./groups.tsx";
import { Letters } from "./letters.tsx";
import "./dead.css";

const POLL_MS = 5_000;
/** From this many dead letters on, counting is expensive for the broker and is done less often. */
const MANY = 10_000;
const MANY_POLL_MS = 60_000;
const GROUPS_MAX = 500;
/** A longer list is not reloaded automatically, because that needs several requests. */
const AUTO_RELOAD_MAX = 500;

export function Dead() {
  const filter = useFilter();
  const now = session.value;
  const isTenant = now.state === "signed-in" && now.me.tenant !== null;
  return (
    <Page
      title="Dead letters"
      subtitle={`URLs that failed permanently.${may("submit") ? " Find out why, then replay or discard them." : ""}`}
    >
      {isTenant && filter.job === undefined ? (
        <>
          <Filters filter={filter} />
          <ChooseJob />
        </>
      ) : (
        <DeadLetterView filter={filter} />
      )}
    </Page>
  );
}

function DeadLetterView({ filter }: { filter: DeadFilter }) {
  const key = JSON.stringify(filter);
  const [pollMs, setPollMs] = useState(POLL_MS);
  const groups = usePolled((signal) => api().dead.groups(filter, { limit: GROUPS_MAX, signal }), pollMs, [key]);
  const letters = useIteratedRows((options) => api().dead.list(filter, options), [key]);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [action, setAction] = useState<DeadAction | undefined>(undefined);
  const [result, setResult] = useState<DeadActionResult | undefined>(undefined);
  const total = groups.value?.letters;
  const isMany = (total ?? 0) >= MANY;
  useEffect(() => setPollMs(isMany ? MANY_POLL_MS : POLL_MS), [isMany]);
  useReloadOnChange(letters, total, groups.value);
  const isFiltered = Object.keys(filter).length > 0;
  const all: DeadSelection = { filter, tasks: undefined, count: total ?? 0 };
  const selection: DeadSelection =
    selected.size === 0 ? all : { filter: jobOnly(filter), tasks: [...selected], count: selected.size };

  const done = (now: DeadActionResult) => {
    setResult(now);
    setSelected(new Set());
    groups.reload();
    letters.reload();
  };
  return (
    <>
      <Filters filter={filter} />
      <Problem error={groups.error} onRetry={groups.reload} />
      {result !== undefined && <DeadActionNotice result={result} onClose={() => setResult(undefined)} />}
      {groups.value === undefined && groups.error === undefined && <Loading />}
      {total === 0 && <NoDeadLetters isFiltered={isFiltered} />}
      {groups.value !== undefined && total !== undefined && total > 0 && (
        <>
          {may("submit") && (
            <Actions
              selection={selection}
              isFiltered={isFiltered}
              onAction={(verb) => setAction({ verb, selection })}
            />
          )}
          <Groups groups={groups.value.groups} filter={filter} isCut={groups.value.groups.length === GROUPS_MAX} />
          {isMissing(letters.error) ? null : <Problem error={letters.error} onRetry={letters.reload} />}
          <Letters
            letters={letters}
            selected={selected}
            onSelect={setSelected}
            onAction={(verb, letter) =>
              setAction({ verb, selection: { filter: { job: letter.jobId }, tasks: [letter.taskId], count: 1 } })
            }
          />
        </>
      )}
      {action !== undefined && <DeadActionDialog action={action} onDone={done} onClose={() => setAction(undefined)} />}
    </>
  );
}

/**
 * Reloads the list when a poll returns another count, such as when a replayed URL has failed again. A list that the
 * user has scrolled far is not reloaded, because the scroll position would be lost.
 */
function useReloadOnChange(letters: PagedRows<DeadOut>, total: number | undefined, polled: unknown): void {
  const last = useRef(total);
  useEffect(() => {
    const isChanged = last.current !== undefined && last.current !== total;
    const isOutdated = letters.isOver && letters.rows.length !== total;
    last.current = total;
    if (total !== undefined && letters.rows.length <= AUTO_RELOAD_MAX && (isChanged || isOutdated)) letters.reload();
  }, [polled]);
}

type ActionsProps = { selection: DeadSelection; isFiltered: boolean; onAction: (verb: DeadAction["verb"]) => void };

function Actions({ selection, isFiltered, onAction }: ActionsProps) {
  const isEnabled = isFiltered || selection.tasks !== undefined;
  const what =
    selection.tasks === undefined ? plural(selection.count, "dead letter") : `${count(selection.count)} selected`;
  return (
    <div class="dead-actions">
      <button type="button" class="primary" disabled={!isEnabled} onClick={() => onAction("replay")}>
        Replay {what} …
      </button>
      <button type="button" disabled={!isEnabled} onClick={() => onAction("discard")}>
        Discard {what} …
      </button>
      {!isEnabled && <span class="muted">Choose a group, set a filter, or select rows below.</span>}
    </div>
  );
}

function NoDeadLetters({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No dead letters match.">
        <p>
          <a href={hrefOf(["dead"])}>Show all dead letters</a>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No dead letters.">
      <p>URLs that fail permanently are listed here, with the reason and all attempts.</p>
    </Empty>
  );
}

function useFilter(): DeadFilter {
  const { query } = route.value;
  const key = JSON.stringify(query);
  return useMemo(() => filterOf(query), [key]);
}

/**
 * The filter for selected rows, which are sent as task ids. With the key of a tenant, the API also requires the job id.
 */
function jobOnly({ job }: DeadFilter): DeadFilter {
  return job === undefined ? {} : { job };
}

/** Whether the job was not found. The list does not show this error, because the groups already show it. */
function isMissing(error: unknown): boolean {
  return isApiError(error, "NOT_FOUND");
}
