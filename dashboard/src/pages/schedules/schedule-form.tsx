/** The form of a schedule, new or to be changed; the next runs stand beside it while one types. */
import { useEffect, useId, useState } from "preact/hooks";
import { isApiError } from "../../../../src/client/api-error.ts";
import { useAction } from "../../polled.ts";
import { api } from "../../session.ts";
import { Field, SelectField, TextField } from "../../ui/field.tsx";
import { absolute } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { both, type Problems, problemsOf } from "../../ui/problems.ts";
import { Choice } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { jobProblem, type Sketch, whenOf, zoneProblem } from "./sketch.ts";
import { CATCH_UP_WORDS, OVERLAP_WORDS } from "./timing-words.ts";

type FormProps = {
  sketch: Sketch;
  verb: string;
  send: (sketch: Sketch) => Promise<unknown>;
  onLeave: () => void;
};

export function ScheduleForm({ sketch: first, verb, send, onLeave }: FormProps) {
  const [sketch, setSketch] = useState(first);
  const set = (changes: Partial<Sketch>) => setSketch((before) => ({ ...before, ...changes }));
  const sending = useAction(() => send(sketch));
  const coming = useComing(sketch);
  const wrong = both(problemsOf(sending.error), problemsOf(coming.error));
  const fault = jobProblem(sketch.job);
  const isAtFault = fault !== undefined || isApiError(coming.error, "BAD_REQUEST", "BAD_SCHEDULE");
  return (
    <form
      class="schedule-form"
      // What was wrong with it as it was says nothing of it as it is.
      onInput={() => sending.error !== undefined && sending.clear()}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isAtFault) void sending.run();
      }}
    >
      <div class="schedule-parts">
        <When sketch={sketch} set={set} wrong={wrong} />
        <NextRuns coming={coming} />
      </div>
      <Policies sketch={sketch} set={set} wrong={wrong} />
      <Field
        label="Job"
        hint="What each run submits, as JSON: its urls, and what to follow and extract. *** stands for a value that is kept and not shown."
        problem={fault ?? wrong.at("job")}
      >
        {(ids) => (
          <textarea
            {...ids}
            rows={10}
            spellcheck={false}
            value={sketch.job}
            onInput={(event) => set({ job: event.currentTarget.value })}
          />
        )}
      </Field>
      <Left wrong={wrong} />
      <div class="dialog-buttons">
        <button type="button" onClick={onLeave}>
          Leave it
        </button>
        <button type="submit" class="primary" disabled={sending.isBusy || isAtFault}>
          {verb}
        </button>
      </div>
    </form>
  );
}

/** What has found no field. A part of its own, since the fields look first. */
function Left({ wrong }: { wrong: Problems }) {
  return <Problem error={wrong.rest} />;
}

type PartProps = { sketch: Sketch; set: (changes: Partial<Sketch>) => void; wrong: Problems };

const KINDS = [
  { value: "cron", label: "At times of the clock" },
  { value: "every", label: "Every so often" },
] as const;

function When({ sketch, set, wrong }: PartProps) {
  const { name, kind, cron, every } = sketch;
  return (
    <div class="schedule-fields">
      <TextField
        label="Name"
        hint="What to call it; else the name of the job, or its first URL."
        value={name}
        problem={wrong.at("name")}
        onInput={(value) => set({ name: value })}
      />
      <Choice label="When" options={KINDS} value={kind} onChange={(value) => set({ kind: value })} />
      {kind === "cron" ? (
        <>
          <TextField
            label="Cron"
            hint="Minute, hour, day, month, weekday: 0 6 * * 1-5 is 6:00 from Monday to Friday. Or @daily."
            inputClass="mono"
            value={cron}
            problem={wrong.at("cron")}
            onInput={(value) => set({ cron: value })}
          />
          <ZoneField sketch={sketch} set={set} wrong={wrong} />
        </>
      ) : (
        <TextField
          label="Every"
          hint="15m, 6h, 1d: counted from when it is made, whatever clocks do."
          inputClass="mono"
          value={every}
          problem={wrong.at("every")}
          onInput={(value) => set({ every: value })}
        />
      )}
    </div>
  );
}

function ZoneField({ sketch: { timeZone }, set, wrong }: PartProps) {
  const listId = useId();
  const told = wrong.at("timeZone");
  return (
    <Field label="Time zone" hint="Whose clock the cron goes by." problem={zoneProblem(timeZone) ?? told}>
      {(ids) => (
        <>
          <input
            {...ids}
            type="text"
            list={listId}
            value={timeZone}
            autocomplete="off"
            onInput={(event) => set({ timeZone: event.currentTarget.value })}
          />
          <datalist id={listId}>
            {ZONES.map((zone) => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

const ZONES = ["UTC", ...Intl.supportedValuesOf("timeZone")];

function Policies({ sketch, set, wrong }: PartProps) {
  const { overlap, catchUp, catchUpMost } = sketch;
  return (
    <div class="schedule-policies">
      <SelectField
        label="Overlap"
        hint={sentence(OVERLAP_WORDS[overlap])}
        value={overlap}
        options={optionsOf(OVERLAP_WORDS)}
        onChange={(value) => set({ overlap: value as Sketch["overlap"] })}
      />
      <SelectField
        label="Catch-up"
        hint={sentence(CATCH_UP_WORDS[catchUp])}
        value={catchUp}
        options={optionsOf(CATCH_UP_WORDS)}
        onChange={(value) => set({ catchUp: value as Sketch["catchUp"] })}
      />
      {catchUp === "all" && (
        <TextField
          label="Catch up at most"
          hint="The latest so many, 1,000 at most."
          type="number"
          value={catchUpMost}
          problem={wrong.at("catchUpMost")}
          onInput={(value) => set({ catchUpMost: value })}
        />
      )}
    </div>
  );
}

const SHOWN = 5;
const SETTLE_MS = 300;

type Coming = { next?: readonly string[]; error?: unknown };

/** Asked of the server, which will fire them, when the typing has stopped for a moment. */
function useComing(sketch: Sketch): Coming {
  const when = whenOf(sketch);
  const [heard, setHeard] = useState<Coming>({});
  const key = JSON.stringify(when);
  useEffect(() => {
    const leaving = new AbortController();
    const timer = setTimeout(() => {
      api()
        .schedules.preview(when, SHOWN, { signal: leaving.signal })
        .then(
          (next) => setHeard({ next }),
          (error: unknown) => leaving.signal.aborted || setHeard({ error }),
        );
    }, SETTLE_MS);
    return () => {
      leaving.abort();
      clearTimeout(timer);
    };
  }, [key]);
  return heard;
}

/** What is wrong with them stands at its field. */
function NextRuns({ coming: { next } }: { coming: Coming }) {
  return (
    <section class="next-runs" aria-live="polite">
      <h3>The next {SHOWN} runs</h3>
      {next === undefined ? (
        <p class="quiet">…</p>
      ) : (
        <ol>
          {next.map((at) => (
            <li key={at}>
              {absolute(Date.parse(at))}{" "}
              <span class="quiet">
                (<Ago at={at} />)
              </span>
            </li>
          ))}
        </ol>
      )}
      <p class="quiet">By the clock of this browser.</p>
    </section>
  );
}

function optionsOf(words: Readonly<Record<string, string>>): { value: string; label: string }[] {
  return Object.keys(words).map((value) => ({ value, label: value }));
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
