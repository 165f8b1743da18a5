/** Dead letters: what was given up on, grouped and one by one, to be replayed or discarded. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { DeadOut } from "../../../../src/api/wire-fleet.ts";
import { isApiError } from "../../../../src/client/api-error.ts";
import type { DeadFilter } from "../../../../src/client/client.ts";
import { useListed } from "../../listed.ts";
import type { Listing } from "../../listing.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf, place } from "../../router.ts";
import { api, may, session } from "../../session.ts";
import { Empty, Loading } from "../../ui/empty.tsx";
import { count, plural } from "../../ui/format.ts";
import { Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { ChooseJob } from "./choose-job.tsx";
import { DealDialog, type Dealing } from "./deal-dialog.tsx";
import type { Chosen } from "./deal-with.ts";
import { type Dealt, DealtNote } from "./dealt-note.tsx";
import { Filters } from "./filters.tsx";
import { Groups } from "./groups.tsx";
import { Letters } from "./letters.tsx";
import { filterOf } from "./which.ts";
import "./dead.css";

const EVERY_MS = 5_000;
/** To count very many costs the broker something: they are counted less often. */
const MANY = 10_000;
const MANY_EVERY_MS = 60_000;
const GROUPS_MOST = 500;
/** Letters that one request brings. */
const FOLLOWED_MOST = 500;

export function Dead() {
  const filter = useFilter();
  const now = session.value;
  const isTenant = now.state === "signed-in" && now.me.tenant !== null;
  return (
    <Page
      title="Dead letters"
      says={`What was given up on: look at why${may("submit") ? ", then replay or discard it" : ""}.`}
    >
      {isTenant && filter.job === undefined ? (
        <>
          <Filters filter={filter} />
          <ChooseJob />
        </>
      ) : (
        <Graveyard filter={filter} />
      )}
    </Page>
  );
}

function Graveyard({ filter }: { filter: DeadFilter }) {
  const key = JSON.stringify(filter);
  const [everyMs, setEveryMs] = useState(EVERY_MS);
  const groups = usePolled((signal) => api().dead.groups(filter, { limit: GROUPS_MOST, signal }), everyMs, [key]);
  const letters = useListed((options) => api().dead.list(filter, options), [key]);
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [dealing, setDealing] = useState<Dealing | undefined>(undefined);
  const [dealt, setDealt] = useState<Dealt | undefined>(undefined);
  const total = groups.value?.letters;
  const isMany = (total ?? 0) >= MANY;
  useEffect(() => setEveryMs(isMany ? MANY_EVERY_MS : EVERY_MS), [isMany]);
  useFollowed(letters, total, groups.value);
  const isNarrowed = Object.keys(filter).length > 0;
  const all: Chosen = { filter, tasks: undefined, count: total ?? 0 };
  const chosen: Chosen = picked.size === 0 ? all : { filter: jobOnly(filter), tasks: [...picked], count: picked.size };

  const done = (now: Dealt) => {
    setDealt(now);
    setPicked(new Set());
    groups.reload();
    letters.reload();
  };
  return (
    <>
      <Filters filter={filter} />
      <Problem error={groups.error} onRetry={groups.reload} />
      {dealt !== undefined && <DealtNote dealt={dealt} onClose={() => setDealt(undefined)} />}
      {groups.value === undefined && groups.error === undefined && <Loading />}
      {total === 0 && <NoneLeft isNarrowed={isNarrowed} />}
      {groups.value !== undefined && total !== undefined && total > 0 && (
        <>
          {may("submit") && (
            <Actions chosen={chosen} isNarrowed={isNarrowed} onDeal={(verb) => setDealing({ verb, chosen })} />
          )}
          <Groups groups={groups.value.groups} filter={filter} isCut={groups.value.groups.length === GROUPS_MOST} />
          {isMissing(letters.error) ? null : <Problem error={letters.error} onRetry={letters.reload} />}
          <Letters
            letters={letters}
            picked={picked}
            onPick={setPicked}
            onDeal={(verb, letter) =>
              setDealing({ verb, chosen: { filter: { job: letter.jobId }, tasks: [letter.taskId], count: 1 } })
            }
          />
        </>
      )}
      {dealing !== undefined && <DealDialog dealing={dealing} onDone={done} onClose={() => setDealing(undefined)} />}
    </>
  );
}

/**
 * What fails again comes back between two looks: the list is read anew when the count is another one. Not where somebody
 * has scrolled far, who would lose the place.
 */
function useFollowed(letters: Listing<DeadOut>, total: number | undefined, look: unknown): void {
  const last = useRef(total);
  useEffect(() => {
    const isOther = last.current !== undefined && last.current !== total;
    const isBehind = letters.isOver && letters.rows.length !== total;
    last.current = total;
    if (total !== undefined && letters.rows.length <= FOLLOWED_MOST && (isOther || isBehind)) letters.reload();
  }, [look]);
}

function Actions(props: { chosen: Chosen; isNarrowed: boolean; onDeal: (verb: Dealing["verb"]) => void }) {
  const { chosen, isNarrowed, onDeal } = props;
  const isAny = isNarrowed || chosen.tasks !== undefined;
  const what = chosen.tasks === undefined ? plural(chosen.count, "letter") : `${count(chosen.count)} picked`;
  return (
    <div class="dead-actions">
      <button type="button" class="primary" disabled={!isAny} onClick={() => onDeal("replay")}>
        Replay {what} …
      </button>
      <button type="button" disabled={!isAny} onClick={() => onDeal("discard")}>
        Discard {what} …
      </button>
      {!isAny && <span class="quiet">Choose a group or a filter, or pick letters below: not all of them at once.</span>}
    </div>
  );
}

function NoneLeft({ isNarrowed }: { isNarrowed: boolean }) {
  if (isNarrowed) {
    return (
      <Empty title="No dead letter is like that.">
        <p>
          <a href={hrefOf(["dead"])}>Show all of them</a>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing was given up on.">
      <p>A URL that fails for good lands here, with its reason and every try there was: nothing is lost in silence.</p>
    </Empty>
  );
}

function useFilter(): DeadFilter {
  const { query } = place.value;
  const key = JSON.stringify(query);
  return useMemo(() => filterOf(query), [key]);
}

/** What was picked is named by itself; a tenant's key wants to hear the job, too. */
function jobOnly({ job }: DeadFilter): DeadFilter {
  return job === undefined ? {} : { job };
}

/** The groups have said so already. */
function isMissing(error: unknown): boolean {
  return isApiError(error, "NOT_FOUND");
}
