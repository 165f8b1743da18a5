/** Edits the job as JSON. Invalid JSON does not change the job and cannot be submitted. */
import { useEffect, useState } from "preact/hooks";
import type { JobInput } from "../../../../src/client/client.ts";
import { Field } from "../../ui/field.tsx";
import { readJob } from "./job-shape.ts";

type JsonEditorProps = {
  job: JobInput;
  onJob: (job: JobInput) => void;
  problem: string | undefined;
  onProblem: (problem: string | undefined) => void;
};

export function JsonEditor({ job, onJob, problem, onProblem }: JsonEditorProps) {
  const [text, setText] = useState(() => textOf(job));
  // Shows a job that was changed elsewhere, but keeps the user's own formatting of an equal job.
  useEffect(() => {
    const read = readJob(text);
    if ("job" in read && JSON.stringify(job) !== JSON.stringify(read.job)) setText(textOf(job));
  }, [job]);
  // Leaving the editor discards invalid text.
  useEffect(() => () => onProblem(undefined), []);
  const type = (typed: string) => {
    setText(typed);
    const read = readJob(typed);
    onProblem("problem" in read ? read.problem : undefined);
    if ("job" in read) onJob(read.job);
  };
  return (
    <Field
      label="Job"
      hint="docs/jobs.md describes all options. The form shows only the most common ones."
      problem={problem}
    >
      {(ids) => (
        <textarea
          {...ids}
          class="json-text"
          spellcheck={false}
          value={text}
          onInput={(event) => type(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

function textOf(job: JobInput): string {
  return JSON.stringify(job, undefined, 2);
}
