/** One schedule: its settings, next runs and recent runs. */
import { useState } from "preact/hooks";
import { isApiError } from "../../../../src/client/api-error.ts";
import type { RunOut, ScheduleOut } from "../../../../src/client/wire-types.ts";
import { useAction, usePolled } from "../../polled.ts";
import { go, hrefOf } from "../../router.ts";
import { api, may } from "../../session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Confirm, Dialog } from "../../ui/dialog.tsx";
import { Empty, Loading } from "../../ui/empty.tsx";
import { absolute } from "../../ui/format.ts";
import { Card, Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { ScrapedText } from "../../ui/scraped.tsx";
import { Ago } from "../../ui/time.tsx";
import { now } from "../../visible.ts";
import { scheduleDraftOf, scheduleOf } from "./schedule-draft.ts";
import { ScheduleForm } from "./schedule-form.tsx";
import { ScheduleRuns } from "./schedule-runs.tsx";
import { CATCH_UP_TEXT, OVERLAP_TEXT, timingText } from "./schedule-text.ts";

const POLL_MS = 4_000;
const NEXT_SHOWN = 5;
/** More than the page shows, because some of them are in the past before the next poll. */
const NEXT_LOADED = 12;
const RUNS = 100;
const JOB_CHARS_MAX = 100_000;

type LoadedSchedule = { schedule: ScheduleOut; next: readonly string[]; runs: readonly RunOut[] };

export function SchedulePage({ id }: { id: string }) {
  const polled = usePolled((signal) => loadSchedule(id, signal), POLL_MS, [id]);
  const { value } = polled;
  const isGone = isApiError(polled.error, "NOT_FOUND");
  const title = value === undefined ? "Schedule" : <ScrapedText text={value.schedule.name} max={200} />;
  return (
    <Page
      title={title}
      subtitle={value === undefined ? undefined : timingText(value.schedule)}
      actions={
        value !== undefined &&
        !isGone &&
        may("submit") && <ScheduleActions schedule={value.schedule} onChanged={polled.reload} />
      }
    >
      {isGone ? (
        <Empty title="This schedule does not exist.">
          <p>
            It was deleted, or your key has no access to it. <a href={hrefOf(["schedules"])}>Show all schedules</a>
          </p>
        </Empty>
      ) : (
        <Problem error={polled.error} onRetry={polled.reload} />
      )}
      {value === undefined || isGone ? (
        polled.error === undefined && <Loading />
      ) : (
        <>
          <div class="cards">
            <Settings schedule={value.schedule} />
            <NextRunsCard schedule={value.schedule} next={value.next} />
          </div>
          <ScheduleRuns runs={value.runs} />
          <Card title="Job">
            <pre class="schedule-job">
              <ScrapedText text={JSON.stringify(value.schedule.job, undefined, 2)} max={JOB_CHARS_MAX} />
            </pre>
          </Card>
        </>
      )}
    </Page>
  );
}

async function loadSchedule(id: string, signal: AbortSignal): Promise<LoadedSchedule> {
  const { schedules } = api();
  const runs: RunOut[] = [];
  const [schedule, next] = await Promise.all([
    schedules.get(id, { signal }),
    schedules.next(id, NEXT_LOADED, { signal }),
  ]);
  for await (const run of schedules.runs(id, { page: RUNS, signal })) {
    runs.push(run);
    if (runs.length >= RUNS) break;
  }
  return { schedule, next, runs };
}

function Settings({ schedule }: { schedule: ScheduleOut }) {
  const { id, paused, overlap, catchUp, maxCatchUp, createdAt } = schedule;
  return (
    <Card title="Settings">
      <dl class="facts card-body">
        <dt>State</dt>
        <dd>{paused ? <Badge tone="warn">paused</Badge> : <Badge tone="good">active</Badge>}</dd>
        <dt>Timing</dt>
        <dd class="mono">{timingText(schedule)}</dd>
        <dt>Overlap</dt>
        <dd>
          {overlap}: {OVERLAP_TEXT[overlap]}
        </dd>
        <dt>Catch-up</dt>
        <dd>
          {catchUp}: {CATCH_UP_TEXT[catchUp]}
          {catchUp === "all" && `, up to ${maxCatchUp}`}
        </dd>
        <dt>Created</dt>
        <dd>
          <Ago at={createdAt} />
        </dd>
        <dt>ID</dt>
        <dd class="mono">{id}</dd>
      </dl>
    </Card>
  );
}

function NextRunsCard({ schedule: { paused }, next }: { schedule: ScheduleOut; next: readonly string[] }) {
  const upcoming = next.filter((at) => Date.parse(at) > now.value).slice(0, NEXT_SHOWN);
  return (
    <Card title="Next runs">
      <div class="card-body next-runs">
        {paused && <p>The schedule is paused. If you resume it, these are the next runs.</p>}
        <ol>
          {upcoming.map((at) => (
            <li key={at}>
              {absolute(Date.parse(at))}{" "}
              <span class="muted">
                (<Ago at={at} />)
              </span>
            </li>
          ))}
        </ol>
      </div>
    </Card>
  );
}

function ScheduleActions({ schedule, onChanged }: { schedule: ScheduleOut; onChanged: () => void }) {
  const { id, paused, name } = schedule;
  const [open, setOpen] = useState<"edit" | "delete" | undefined>(undefined);
  const acting = useAction(async (verb: "pause" | "resume" | "run") => {
    await api().schedules[verb](id);
    onChanged();
  });
  const close = () => setOpen(undefined);
  return (
    <>
      <button type="button" disabled={acting.isBusy} onClick={() => acting.run("run")}>
        Run now
      </button>
      <button type="button" disabled={acting.isBusy} onClick={() => acting.run(paused ? "resume" : "pause")}>
        {paused ? "Resume" : "Pause"}
      </button>
      <button type="button" onClick={() => setOpen("edit")}>
        Edit
      </button>
      <button type="button" onClick={() => setOpen("delete")}>
        Delete …
      </button>
      <Problem error={acting.error} />
      {open === "edit" && (
        <Dialog title="Edit schedule" onClose={close} isWide>
          <ScheduleForm
            draft={scheduleDraftOf(schedule)}
            verb="Save"
            send={async (entered) => {
              await api().schedules.change(id, scheduleOf(entered));
              onChanged();
              close();
            }}
            onCancel={close}
          />
        </Dialog>
      )}
      {open === "delete" && (
        <Confirm
          title="Delete this schedule?"
          verb="Delete schedule"
          isDanger
          onClose={close}
          act={async () => {
            await api().schedules.remove(id);
            go(hrefOf(["schedules"]));
          }}
        >
          <p>
            This deletes the schedule <ScrapedText text={name} max={200} /> and the history of its runs. The schedule
            submits no more jobs. Jobs that it already submitted stay.
          </p>
        </Confirm>
      )}
    </>
  );
}
