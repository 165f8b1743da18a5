/** A new job: by the form or as JSON, with what its rules make of one page beside it. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JobInput } from "../../../../src/client/client.ts";
import { useSettled } from "../../listing.ts";
import { liveJobs } from "../../live.ts";
import { useAction, usePolled } from "../../polled.ts";
import { go, hrefOf, place } from "../../router.ts";
import { api } from "../../session.ts";
import { Loading } from "../../ui/empty.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { both, type Problems, problemsOf } from "../../ui/problems.ts";
import { Tabs } from "../../ui/tabs.tsx";
import { missingWords } from "../job/missing-words.ts";
import { noteSubmitted } from "../job/submitted.ts";
import { type Draft, draftOf, jobOf, newDraft } from "./draft.ts";
import { JobForm } from "./job-form.tsx";
import { JsonEditor } from "./json-editor.tsx";
import { dropDraft, findDraft, keepDraft } from "./kept-draft.ts";
import { Preview } from "./preview.tsx";
import "../job/job.css";
import "./submit.css";

/** `#/jobs/new?from=ID` begins with the job of that id. */
export function Submit() {
  const { from } = place.value.query;
  if (from === undefined) return <NewJob key="new" first={newDraft()} missing={[]} />;
  return <FromJob key={from} id={from} />;
}

function FromJob({ id }: { id: string }) {
  const { value, error, isLoading, reload } = usePolled((signal) => api().job(id).spec({ signal }), 0, [id]);
  if (value !== undefined) return <NewJob first={draftOf(value.job)} missing={missingWords(value, submittedOf(id))} />;
  return (
    <Page title="New job">
      {isLoading && <Loading />}
      <Problem error={error} onRetry={reload} />
      {error !== undefined && (
        <p>
          <a href="#/jobs/new">Begin with an empty one</a>
        </p>
      )}
    </Page>
  );
}

function submittedOf(id: string): number | undefined {
  return liveJobs.peek()?.get(id)?.counts.submitted;
}

const TABS = [
  { id: "form", title: "Form" },
  { id: "json", title: "JSON" },
];

function NewJob({ first, missing }: { first: Draft; missing: readonly string[] }) {
  const { from } = place.value.query;
  const { draft, setDraft, isChanged, startAfresh, nth } = useKeptDraft(first, from);
  const [previewError, setPreviewError] = useState<unknown>(undefined);
  const [unreadable, setUnreadable] = useState<string | undefined>(undefined);
  const job = useMemo(() => jobOf(draft), [draft]);
  const { submitting, error } = useSubmission(job, () => dropDraft(from));
  const problems = both(problemsOf(error), problemsOf(previewError));
  const isJson = place.value.query.as === "json";
  return (
    <Page
      title="New job"
      actions={
        isChanged && (
          <button type="button" onClick={startAfresh}>
            Start afresh
          </button>
        )
      }
    >
      {missing.length > 0 && <p class="submit-missing">{missing.join(" ")}</p>}
      <div class="submit">
        <Card class="submit-job">
          <Tabs label="How the job is written" tabs={TABS} current={isJson ? "json" : "form"} by="as" keep={{ from }} />
          <form
            class="card-body submit-form"
            // What was wrong with the job as it was says nothing of it as it is.
            onInput={() => error !== undefined && submitting.clear()}
            onSubmit={(event) => {
              event.preventDefault();
              if (unreadable === undefined) void submitting.run();
            }}
          >
            {isJson ? (
              <JsonEditor
                key={nth}
                job={job}
                onJob={(written) => setDraft(draftOf(written))}
                problem={unreadable}
                onProblem={setUnreadable}
              />
            ) : (
              <JobForm draft={draft} onDraft={setDraft} problems={problems} />
            )}
            {isJson ? <Problem error={error} /> : <ProblemsLeft problems={problems} previewError={previewError} />}
            <div class="submit-buttons">
              <button type="submit" class="primary" disabled={submitting.isBusy || unreadable !== undefined}>
                {submitting.isBusy ? "Submitting …" : "Submit job"}
              </button>
              <a class="button" href="#/jobs">
                Leave
              </a>
            </div>
          </form>
        </Card>
        <Preview draft={draft} job={job} onError={setPreviewError} />
      </div>
    </Page>
  );
}

/** As it was left, where it was; kept as soon as something was written. */
function useKeptDraft(first: Draft, from: string | undefined) {
  const [draft, setDraft] = useState(() => findDraft(from) ?? first);
  const isChanged = useMemo(() => JSON.stringify(draft) !== JSON.stringify(first), [draft]);
  const [nth, setNth] = useState(0);
  const write = (written: Draft) => {
    setDraft(written);
    keepDraft(from, written);
  };
  const startAfresh = () => {
    setDraft(first);
    setNth(nth + 1);
    dropDraft(from);
  };
  return { draft, setDraft: write, isChanged, startAfresh, nth };
}

/**
 * What no field has shown: a part of its own, and after them, since only then they have looked. What the preview could not
 * say beside a field stands in the preview itself.
 */
function ProblemsLeft({ problems, previewError }: { problems: Problems; previewError: unknown }) {
  const { rest } = problems;
  return <Problem error={rest === previewError ? undefined : rest} />;
}

/** Under one key for one job: pressed twice, or sent again after an answer got lost, it is submitted once. */
function useSubmission(job: JobInput, onSubmitted: () => void) {
  const key = useRef({ job: "", key: "" });
  const text = JSON.stringify(job);
  const submitting = useAction(async () => {
    if (key.current.job !== text) key.current = { job: text, key: newKey() };
    const { id, ...told } = await api().submit(job, { idempotencyKey: key.current.key });
    noteSubmitted({ id, given: job.urls?.length ?? 0, ...told });
    onSubmitted();
    go(hrefOf(["jobs", id]));
  });
  const settled = useSettled(text, 0);
  // Changed by a button, too.
  useEffect(() => submitting.clear(), [settled]);
  return { submitting, error: submitting.error };
}

function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
