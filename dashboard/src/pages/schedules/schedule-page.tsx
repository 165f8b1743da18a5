/** One schedule: when it runs next, what became of its last runs, and what one can do with it. */
import { useState } from "preact/hooks";
import type { RunOut, ScheduleOut } from "../../../../src/api/wire-schedules.ts";
import { isApiError } from "../../../../src/client/api-error.ts";
import { useAction, usePolled } from "../../polled.ts";
import { go, hrefOf } from "../../router.ts";
import { api, may } from "../../session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Confirm, Dialog } from "../../ui/dialog.tsx";
import { Empty, Loading } from "../../ui/empty.tsx";
import { absolute } from "../../ui/format.ts";
import { Card, Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { ScrapedWords } from "../../ui/scraped.tsx";
import { Ago } from "../../ui/time.tsx";
import { now } from "../../visible.ts";
import { ScheduleForm } from "./schedule-form.tsx";
import { ScheduleRuns } from "./schedule-runs.tsx";
import { scheduleOf, sketchOf } from "./sketch.ts";
import { CATCH_UP_WORDS, OVERLAP_WORDS, timingWords } from "./timing-words.ts";

const EVERY_MS = 4_000;
const NEXT = 5;
/** More than are shown: some pass until the next look. */
const NEXT_ASKED = 12;
const RUNS = 100;
/** Of a job's JSON, so many characters are shown. */
const JOB_MOST = 100_000;

type Looked = { schedule: ScheduleOut; next: readonly string[]; runs: readonly RunOut[] };

export function SchedulePage({ id }: { id: string }) {
  const asked = usePolled((signal) => lookAt(id, signal), EVERY_MS, [id]);
  const { value } = asked;
  const isGone = isApiError(asked.error, "NOT_FOUND");
  const title = value === undefined ? "Schedule" : <ScrapedWords text={value.schedule.name} most={200} />;
  return (
    <Page
      title={title}
      says={value === undefined ? undefined : timingWords(value.schedule)}
      actions={
        value !== undefined && !isGone && may("submit") && <Deeds schedule={value.schedule} onChanged={asked.reload} />
      }
    >
      {isGone ? (
        <Empty title="There is no such schedule.">
          <p>
            It was deleted, or it is somebody else's. <a href={hrefOf(["schedules"])}>All schedules</a>
          </p>
        </Empty>
      ) : (
        <Problem error={asked.error} onRetry={asked.reload} />
      )}
      {value === undefined || isGone ? (
        asked.error === undefined && <Loading />
      ) : (
        <>
          <div class="cards">
            <Facts schedule={value.schedule} />
            <NextCard schedule={value.schedule} next={value.next} />
          </div>
          <ScheduleRuns runs={value.runs} />
          <Card title="What each run submits">
            <pre class="schedule-job">
              <ScrapedWords text={JSON.stringify(value.schedule.job, undefined, 2)} most={JOB_MOST} />
            </pre>
          </Card>
        </>
      )}
    </Page>
  );
}

async function lookAt(id: string, signal: AbortSignal): Promise<Looked> {
  const { schedules } = api();
  const runs: RunOut[] = [];
  const [schedule, next] = await Promise.all([
    schedules.get(id, { signal }),
    schedules.next(id, NEXT_ASKED, { signal }),
  ]);
  for await (const run of schedules.runs(id, { page: RUNS, signal })) {
    runs.push(run);
    if (runs.length >= RUNS) break;
  }
  return { schedule, next, runs };
}

function Facts({ schedule }: { schedule: ScheduleOut }) {
  const { id, paused, overlap, catchUp, catchUpMost, createdAt } = schedule;
  return (
    <Card title="How it runs">
      <dl class="facts card-body">
        <dt>State</dt>
        <dd>{paused ? <Badge tone="warn">paused</Badge> : <Badge tone="good">active</Badge>}</dd>
        <dt>When</dt>
        <dd class="mono">{timingWords(schedule)}</dd>
        <dt>Overlap</dt>
        <dd>
          {overlap}: {OVERLAP_WORDS[overlap]}
        </dd>
        <dt>Catch-up</dt>
        <dd>
          {catchUp}: {CATCH_UP_WORDS[catchUp]}
          {catchUp === "all" && `, up to ${catchUpMost}`}
        </dd>
        <dt>Made</dt>
        <dd>
          <Ago at={createdAt} />
        </dd>
        <dt>Id</dt>
        <dd class="mono">{id}</dd>
      </dl>
    </Card>
  );
}

function NextCard({ schedule: { paused }, next }: { schedule: ScheduleOut; next: readonly string[] }) {
  const toCome = next.filter((at) => Date.parse(at) > now.value).slice(0, NEXT);
  return (
    <Card title="Next runs">
      <div class="card-body next-runs">
        {paused && <p>It is paused: these are the runs it would have.</p>}
        <ol>
          {toCome.map((at) => (
            <li key={at}>
              {absolute(Date.parse(at))}{" "}
              <span class="quiet">
                (<Ago at={at} />)
              </span>
            </li>
          ))}
        </ol>
      </div>
    </Card>
  );
}

function Deeds({ schedule, onChanged }: { schedule: ScheduleOut; onChanged: () => void }) {
  const { id, paused, name } = schedule;
  const [open, setOpen] = useState<"edit" | "remove" | undefined>(undefined);
  const steering = useAction(async (verb: "pause" | "resume" | "run") => {
    await api().schedules[verb](id);
    onChanged();
  });
  const close = () => setOpen(undefined);
  return (
    <>
      <button type="button" disabled={steering.isBusy} onClick={() => steering.run("run")}>
        Run now
      </button>
      <button type="button" disabled={steering.isBusy} onClick={() => steering.run(paused ? "resume" : "pause")}>
        {paused ? "Resume" : "Pause"}
      </button>
      <button type="button" onClick={() => setOpen("edit")}>
        Edit
      </button>
      <button type="button" onClick={() => setOpen("remove")}>
        Remove …
      </button>
      <Problem error={steering.error} />
      {open === "edit" && (
        <Dialog title="Change the schedule" onClose={close} isWide>
          <ScheduleForm
            sketch={sketchOf(schedule)}
            verb="Change it"
            send={async (written) => {
              await api().schedules.change(id, scheduleOf(written));
              onChanged();
              close();
            }}
            onLeave={close}
          />
        </Dialog>
      )}
      {open === "remove" && (
        <Confirm
          title="Remove the schedule"
          verb="Remove it"
          isDanger
          onClose={close}
          act={async () => {
            await api().schedules.remove(id);
            go(hrefOf(["schedules"]));
          }}
        >
          <p>
            Removes <ScrapedWords text={name} most={200} /> with what is known of its runs. Their jobs stay; nothing
            more of it is submitted.
          </p>
        </Confirm>
      )}
    </>
  );
}
