/** The form for a new or existing schedule. It shows the next runs while the user types. */
import { useEffect, useId, useState } from "preact/hooks";
import { isApiError } from "../../../../src/client/api-error.ts";
import { useAction } from "../../polled.ts";
import { api } from "../../session.ts";
import { Field, SelectField, TextField } from "../../ui/field.tsx";
import { type FieldProblems, mergeProblems, problemsOf } from "../../ui/field-problems.ts";
import { absolute } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { Choice } from "../../ui/tabs.tsx";
import { Ago } from "../../ui/time.tsx";
import { jobProblem, type ScheduleDraft, whenOf, zoneProblem } from "./schedule-draft.ts";
import { CATCH_UP_TEXT, MISSED_TEXT, OVERLAP_TEXT } from "./schedule-text.ts";

type ScheduleFormProps = {
  draft: ScheduleDraft;
  verb: string;
  send: (draft: ScheduleDraft) => Promise<unknown>;
  onCancel: () => void;
};

export function ScheduleForm({ draft: first, verb, send, onCancel }: ScheduleFormProps) {
  const [draft, setDraft] = useState(first);
  const set = (changes: Partial<ScheduleDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const sending = useAction(() => send(draft));
  const preview = useNextRuns(draft);
  const problems = mergeProblems(problemsOf(sending.error), problemsOf(preview.error));
  const jsonProblem = jobProblem(draft.job);
  const isInvalid = jsonProblem !== undefined || isApiError(preview.error, "BAD_REQUEST", "BAD_SCHEDULE");
  return (
    <form
      class="schedule-form"
      // The error no longer applies after a change.
      onInput={() => sending.error !== undefined && sending.clear()}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isInvalid) void sending.run();
      }}
    >
      <div class="schedule-parts">
        <TimingFields draft={draft} set={set} problems={problems} />
        <NextRuns preview={preview} />
      </div>
      <PolicyFields draft={draft} set={set} problems={problems} />
      <Field
        label="Job"
        hint="The job that each run submits, as JSON. *** replaces a stored secret. To keep the secret, leave *** unchanged."
        problem={jsonProblem ?? problems.at("job")}
      >
        {(ids) => (
          <textarea
            {...ids}
            rows={10}
            spellcheck={false}
            value={draft.job}
            onInput={(event) => set({ job: event.currentTarget.value })}
          />
        )}
      </Field>
      <OtherProblems problems={problems} />
      <div class="dialog-buttons">
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="primary" disabled={sending.isBusy || isInvalid}>
          {verb}
        </button>
      </div>
    </form>
  );
}

/** Errors that belong to no field. A separate component, because `rest` must be read after the fields are rendered. */
function OtherProblems({ problems }: { problems: FieldProblems }) {
  return <Problem error={problems.rest} />;
}

type FieldsProps = { draft: ScheduleDraft; set: (changes: Partial<ScheduleDraft>) => void; problems: FieldProblems };

const KINDS = [
  { value: "cron", label: "Cron" },
  { value: "every", label: "Interval" },
] as const;

function TimingFields({ draft, set, problems }: FieldsProps) {
  const { name, kind, cron, every } = draft;
  return (
    <div class="schedule-fields">
      <TextField
        label="Name"
        hint="Optional. The default is the name of the job, or its first URL."
        value={name}
        problem={problems.at("name")}
        onInput={(value) => set({ name: value })}
      />
      <Choice label="Timing" options={KINDS} value={kind} onChange={(value) => set({ kind: value })} />
      {kind === "cron" ? (
        <>
          <TextField
            label="Cron expression"
            hint="Minute, hour, day, month, weekday. For example, 0 6 * * 1-5 is 6:00 from Monday to Friday. @daily works too."
            inputClass="mono"
            value={cron}
            problem={problems.at("cron")}
            onInput={(value) => set({ cron: value })}
          />
          <ZoneField draft={draft} set={set} problems={problems} />
        </>
      ) : (
        <TextField
          label="Interval"
          hint="Such as 15m, 6h or 1d, counted from the time at which you save. Daylight saving time has no effect."
          inputClass="mono"
          value={every}
          problem={problems.at("every")}
          onInput={(value) => set({ every: value })}
        />
      )}
    </div>
  );
}

function ZoneField({ draft: { timeZone }, set, problems }: FieldsProps) {
  const listId = useId();
  const serverProblem = problems.at("timeZone");
  return (
    <Field
      label="Time zone"
      hint="The time zone of the cron expression."
      problem={zoneProblem(timeZone) ?? serverProblem}
    >
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

function PolicyFields({ draft, set, problems }: FieldsProps) {
  const { overlap, catchUp, maxCatchUp } = draft;
  return (
    <div class="schedule-policies">
      <SelectField
        label="Overlap"
        hint={sentence(OVERLAP_TEXT[overlap])}
        value={overlap}
        options={optionsOf(OVERLAP_TEXT)}
        onChange={(value) => set({ overlap: value as ScheduleDraft["overlap"] })}
      />
      <SelectField
        label="Catch-up"
        hint={`${sentence(CATCH_UP_TEXT[catchUp])} ${MISSED_TEXT}`}
        value={catchUp}
        options={optionsOf(CATCH_UP_TEXT)}
        onChange={(value) => set({ catchUp: value as ScheduleDraft["catchUp"] })}
      />
      {catchUp === "all" && (
        <TextField
          label="Catch-up limit"
          hint="The maximum number of missed runs that are run. Older missed runs are skipped. At most 1,000."
          type="number"
          value={maxCatchUp}
          problem={problems.at("maxCatchUp")}
          onInput={(value) => set({ maxCatchUp: value })}
        />
      )}
    </div>
  );
}

const SHOWN = 5;
const DEBOUNCE_MS = 300;

type NextRunsPreview = { next?: readonly string[]; error?: unknown };

/** Requests the next runs from the server, which computes them with the same code that runs the schedule. */
function useNextRuns(draft: ScheduleDraft): NextRunsPreview {
  const when = whenOf(draft);
  const [preview, setPreview] = useState<NextRunsPreview>({});
  const key = JSON.stringify(when);
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => {
      api()
        .schedules.preview(when, SHOWN, { signal: abort.signal })
        .then(
          (next) => setPreview({ next }),
          (error: unknown) => abort.signal.aborted || setPreview({ error }),
        );
    }, DEBOUNCE_MS);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [key]);
  return preview;
}

/** The next runs. Errors of the preview are shown at the fields. */
function NextRuns({ preview: { next } }: { preview: NextRunsPreview }) {
  return (
    <section class="next-runs" aria-live="polite">
      <h3>Next {SHOWN} runs</h3>
      {next === undefined ? (
        <p class="muted">…</p>
      ) : (
        <ol>
          {next.map((at) => (
            <li key={at}>
              {absolute(Date.parse(at))}{" "}
              <span class="muted">
                (<Ago at={at} />)
              </span>
            </li>
          ))}
        </ol>
      )}
      <p class="muted">Times are in the time zone of this browser.</p>
    </section>
  );
}

function optionsOf(texts: Readonly<Record<string, string>>): { value: string; label: string }[] {
  return Object.keys(texts).map((value) => ({ value, label: value }));
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
