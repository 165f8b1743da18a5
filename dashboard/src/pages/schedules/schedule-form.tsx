/** The form of a schedule, new or to be changed; the next runs stand beside it while one types. */
import { useEffect, useId, useState } from "preact/hooks";
import { useAction } from "../../polled.ts";
import { api } from "../../session.ts";
import { Field, SelectField, TextField } from "../../ui/field.tsx";
import { absolute } from "../../ui/format.ts";
import { Problem, wordsOf } from "../../ui/problem.tsx";
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
  const fault = jobProblem(sketch.job);
  return (
    <form
      class="schedule-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (fault === undefined) void sending.run();
      }}
    >
      <div class="schedule-parts">
        <When sketch={sketch} set={set} />
        <NextRuns sketch={sketch} />
      </div>
      <Policies sketch={sketch} set={set} />
      <Field
        label="Job"
        hint="What each run submits, as JSON: its urls, and what to follow and extract. *** stands for a value that is kept and not shown."
        problem={fault}
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
      <Problem error={sending.error} />
      <div class="dialog-buttons">
        <button type="button" onClick={onLeave}>
          Leave it
        </button>
        <button type="submit" class="primary" disabled={sending.isBusy || fault !== undefined}>
          {verb}
        </button>
      </div>
    </form>
  );
}

type PartProps = { sketch: Sketch; set: (changes: Partial<Sketch>) => void };

const KINDS = [
  { value: "cron", label: "At times of the clock" },
  { value: "every", label: "Every so often" },
] as const;

function When({ sketch, set }: PartProps) {
  const { name, kind, cron, every } = sketch;
  return (
    <div class="schedule-fields">
      <TextField
        label="Name"
        hint="What to call it; else the name of the job, or its first URL."
        value={name}
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
            onInput={(value) => set({ cron: value })}
          />
          <ZoneField sketch={sketch} set={set} />
        </>
      ) : (
        <TextField
          label="Every"
          hint="15m, 6h, 1d: counted from when it is made, whatever clocks do."
          inputClass="mono"
          value={every}
          onInput={(value) => set({ every: value })}
        />
      )}
    </div>
  );
}

function ZoneField({ sketch: { timeZone }, set }: PartProps) {
  const listId = useId();
  return (
    <Field label="Time zone" hint="Whose clock the cron goes by." problem={zoneProblem(timeZone)}>
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

function Policies({ sketch, set }: PartProps) {
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
          onInput={(value) => set({ catchUpMost: value })}
        />
      )}
    </div>
  );
}

const SHOWN = 5;
const SETTLE_MS = 300;

/** Asked of the server, which will fire them, when the typing has stopped for a moment. */
function NextRuns({ sketch }: { sketch: Sketch }) {
  const when = whenOf(sketch);
  const [heard, setHeard] = useState<{ next?: readonly string[]; error?: unknown }>({});
  const key = JSON.stringify(when);
  // What is wrong with it stands at its field.
  const isZoneAtFault = zoneProblem(when.timeZone ?? "") !== undefined;
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
  return (
    <section class="next-runs" aria-live="polite">
      <h3>The next {SHOWN} runs</h3>
      {heard.error !== undefined && !isZoneAtFault && <p class="field-problem">{wordsOf(heard.error).what}</p>}
      {heard.next === undefined && (heard.error === undefined || isZoneAtFault) && <p class="quiet">…</p>}
      {heard.next !== undefined && (
        <ol>
          {heard.next.map((at) => (
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
