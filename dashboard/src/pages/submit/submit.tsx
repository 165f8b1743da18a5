/** A new job, as a form or as JSON, with a preview of what its rules extract. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JobInput } from "../../../../src/client/client.ts";
import { liveJobs } from "../../live.ts";
import { useDebounced } from "../../paged-rows.ts";
import { useAction, usePolled } from "../../polled.ts";
import { go, hrefOf, route } from "../../router.ts";
import { api } from "../../session.ts";
import { Loading } from "../../ui/empty.tsx";
import { type FieldProblems, mergeProblems, problemsOf } from "../../ui/field-problems.ts";
import { Card, Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { missingPartsText } from "../job/missing-parts.ts";
import { setSubmitResult } from "../job/submit-result.ts";
import { deleteDraft, findDraft, saveDraft } from "./draft-storage.ts";
import { draftOf, type JobDraft, jobOf, newDraft } from "./job-draft.ts";
import { JobForm } from "./job-form.tsx";
import { JsonEditor } from "./json-editor.tsx";
import { Preview } from "./preview.tsx";
import "../job/job.css";
import "./submit.css";

/** `#/jobs/new?from=ID` starts with a copy of that job. */
export function Submit() {
  const { from } = route.value.query;
  if (from === undefined) return <NewJob key="new" first={newDraft()} missing={[]} />;
  return <FromJob key={from} id={from} />;
}

function FromJob({ id }: { id: string }) {
  const { value, error, isLoading, reload } = usePolled((signal) => api().job(id).spec({ signal }), 0, [id]);
  if (value !== undefined)
    return <NewJob first={draftOf(value.job)} missing={missingPartsText(value, submittedOf(id))} />;
  return (
    <Page title="New job">
      {isLoading && <Loading />}
      <Problem error={error} onRetry={reload} />
      {error !== undefined && (
        <p>
          <a href="#/jobs/new">Start with an empty job</a>
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

function NewJob({ first, missing }: { first: JobDraft; missing: readonly string[] }) {
  const { from } = route.value.query;
  const { draft, setDraft, isChanged, reset, resets } = useStoredDraft(first, from);
  const [previewError, setPreviewError] = useState<unknown>(undefined);
  const [jsonProblem, setJsonProblem] = useState<string | undefined>(undefined);
  const job = useMemo(() => jobOf(draft), [draft]);
  const { submitting, error } = useSubmission(job, () => deleteDraft(from));
  const problems = mergeProblems(problemsOf(error), problemsOf(previewError));
  const isJson = route.value.query.as === "json";
  useFocusOnProblem(error);
  return (
    <Page
      title="New job"
      actions={
        isChanged && (
          <button type="button" onClick={reset}>
            Reset
          </button>
        )
      }
    >
      {missing.length > 0 && <p class="submit-missing">{missing.join(" ")}</p>}
      <div class="submit">
        <Card class="submit-job">
          <Tabs label="Edit as" tabs={TABS} current={isJson ? "json" : "form"} by="as" keep={{ from }} />
          <form
            class="card-body submit-form"
            // The error no longer applies after a change.
            onInput={() => error !== undefined && submitting.clear()}
            onSubmit={(event) => {
              event.preventDefault();
              if (jsonProblem === undefined) void submitting.run();
            }}
          >
            {isJson ? (
              <JsonEditor
                key={resets}
                job={job}
                onJob={(edited) => setDraft(draftOf(edited))}
                problem={jsonProblem}
                onProblem={setJsonProblem}
              />
            ) : (
              <JobForm draft={draft} onDraft={setDraft} problems={problems} />
            )}
            {isJson ? <Problem error={error} /> : <OtherProblems problems={problems} previewError={previewError} />}
            <div class="submit-buttons">
              <button type="submit" class="primary" disabled={submitting.isBusy || jsonProblem !== undefined}>
                {submitting.isBusy ? "Submitting …" : "Submit job"}
              </button>
              <a class="button" href="#/jobs">
                Cancel
              </a>
            </div>
          </form>
        </Card>
        <Preview draft={draft} job={job} onError={setPreviewError} />
      </div>
    </Page>
  );
}

/** The stored draft of this tab, or `first`. Every change is stored. */
function useStoredDraft(first: JobDraft, from: string | undefined) {
  const [draft, setDraft] = useState(() => findDraft(from) ?? first);
  const isChanged = useMemo(() => JSON.stringify(draft) !== JSON.stringify(first), [draft]);
  const [resets, setResets] = useState(0);
  const change = (changed: JobDraft) => {
    setDraft(changed);
    saveDraft(from, changed);
  };
  const reset = () => {
    setDraft(first);
    setResets(resets + 1);
    deleteDraft(from);
  };
  return { draft, setDraft: change, isChanged, reset, resets };
}

/**
 * Errors that belong to no field. A separate component, because `rest` must be read after the fields are rendered.
 * An error of the preview is not shown here, because the preview shows it.
 */
function OtherProblems({ problems, previewError }: { problems: FieldProblems; previewError: unknown }) {
  const { rest } = problems;
  return <Problem error={rest === previewError ? undefined : rest} />;
}

/** After a refused submission, moves to the first field with a problem. Its section opens first. */
function useFocusOnProblem(error: unknown): void {
  useEffect(() => {
    if (error === undefined) return;
    const frame = requestAnimationFrame(() =>
      requestAnimationFrame(() => document.querySelector<HTMLElement>(".submit-form [aria-invalid]")?.focus()),
    );
    return () => cancelAnimationFrame(frame);
  }, [error]);
}

/** One idempotency key per version of the job: a double click, or a retry after a lost response, submits it once. */
function useSubmission(job: JobInput, onSubmitted: () => void) {
  const key = useRef({ job: "", key: "" });
  const text = JSON.stringify(job);
  const submitting = useAction(async () => {
    if (key.current.job !== text) key.current = { job: text, key: newKey() };
    const { id, ...result } = await api().submit(job, { idempotencyKey: key.current.key });
    setSubmitResult({ id, given: job.urls?.length ?? 0, ...result });
    onSubmitted();
    go(hrefOf(["jobs", id]));
  });
  const debounced = useDebounced(text, 0);
  // Clears the error also after a change without an input event, such as a click on a button.
  useEffect(() => submitting.clear(), [debounced]);
  return { submitting, error: submitting.error };
}

function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
