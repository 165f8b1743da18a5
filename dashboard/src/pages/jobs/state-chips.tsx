import type { JobOut } from "../../../../src/client/client.ts";
import { liveJobs, moreJobs } from "../../live.ts";
import { setQuery } from "../../router.ts";
import { count } from "../../ui/format.ts";
import { Tip } from "../../ui/tip.tsx";
import { deletedJobs } from "./deleted-jobs.ts";

const STATES: readonly JobOut["state"][] = ["running", "paused", "finished", "failed", "cancelled"];

/** The state in the address; undefined if it is invalid. */
export function stateIn(text: string | undefined): JobOut["state"] | undefined {
  return STATES.find((state) => state === text);
}

export function StateChips({ current }: { current: JobOut["state"] | undefined }) {
  const jobs = [...(liveJobs.value?.values() ?? [])].filter(({ id }) => !deletedJobs.value.has(id));
  return (
    <fieldset class="chips">
      <legend class="sr-only">State</legend>
      <Chip
        label="All"
        isOn={current === undefined}
        countText={undefined}
        onPress={() => setQuery({ state: undefined })}
      />
      {STATES.map((state) => (
        <Chip
          key={state}
          label={state}
          isOn={state === current}
          countText={knownOf(jobs, state)}
          onPress={() => setQuery({ state: state === current ? undefined : state })}
        />
      ))}
    </fieldset>
  );
}

/** The number of jobs in a state. Undefined if unknown: the stream does not send ended jobs beyond the newest ones. */
function knownOf(jobs: readonly JobOut[], state: JobOut["state"]): string | undefined {
  const known = jobs.filter((job) => job.state === state).length;
  const { open, ended } = moreJobs.value;
  if (state === "running" || state === "paused") return open ? `${count(known)}+` : count(known);
  return ended ? undefined : count(known);
}

type ChipProps = { label: string; isOn: boolean; countText: string | undefined; onPress: () => void };

function Chip({ label, isOn, countText, onPress }: ChipProps) {
  return (
    <button type="button" class="chip" aria-pressed={isOn} onClick={onPress}>
      {label}
      {countText !== undefined && (
        <Tip text="Number of jobs in this state. A + means at least this many." isUnfocusable class="plain chip-count">
          {countText}
        </Tip>
      )}
    </button>
  );
}
