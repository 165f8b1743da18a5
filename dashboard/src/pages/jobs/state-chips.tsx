import type { JobOut } from "../../../../src/client/client.ts";
import { liveJobs, moreJobs } from "../../live.ts";
import { setQuery } from "../../router.ts";
import { count } from "../../ui/format.ts";
import { Tip } from "../../ui/tip.tsx";
import { deletedJobs } from "./deleted.ts";

const STATES: readonly JobOut["state"][] = ["running", "paused", "finished", "failed", "cancelled"];

/** What stands in an address may be anything. */
export function stateIn(text: string | undefined): JobOut["state"] | undefined {
  return STATES.find((state) => state === text);
}

export function StateChips({ current }: { current: JobOut["state"] | undefined }) {
  const jobs = [...(liveJobs.value?.values() ?? [])].filter(({ id }) => !deletedJobs.value.has(id));
  return (
    <fieldset class="chips">
      <legend class="sr-only">State</legend>
      <Chip label="All" isOn={current === undefined} many={undefined} onPress={() => setQuery({ state: undefined })} />
      {STATES.map((state) => (
        <Chip
          key={state}
          label={state}
          isOn={state === current}
          many={knownOf(jobs, state)}
          onPress={() => setQuery({ state: state === current ? undefined : state })}
        />
      ))}
    </fieldset>
  );
}

/** How many there are; undefined where that is not known, as of those that ended before the newest jobs were made. */
function knownOf(jobs: readonly JobOut[], state: JobOut["state"]): string | undefined {
  const known = jobs.filter((job) => job.state === state).length;
  const { open, ended } = moreJobs.value;
  if (state === "running" || state === "paused") return open ? `${count(known)}+` : count(known);
  return ended ? undefined : count(known);
}

type ChipProps = { label: string; isOn: boolean; many: string | undefined; onPress: () => void };

function Chip({ label, isOn, many, onPress }: ChipProps) {
  return (
    <button type="button" class="chip" aria-pressed={isOn} onClick={onPress}>
      {label}
      {many !== undefined && (
        <Tip says="How many there are now; with a + at least so many." isQuiet class="plain chip-count">
          {many}
        </Tip>
      )}
    </button>
  );
}
