/** The same job as JSON. What cannot be read changes nothing, says where it breaks, and is not submitted. */
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
  const [text, setText] = useState(() => written(job));
  // A job that was changed elsewhere is shown; one that says the same in other spaces stays as it was typed.
  useEffect(() => {
    const read = readJob(text);
    if ("job" in read && JSON.stringify(job) !== JSON.stringify(read.job)) setText(written(job));
  }, [job]);
  // Left unreadable, it is as it was before.
  useEffect(() => () => onProblem(undefined), []);
  const type = (typed: string) => {
    setText(typed);
    const read = readJob(typed);
    onProblem("problem" in read ? read.problem : undefined);
    if ("job" in read) onJob(read.job);
  };
  return (
    <Field label="The job" hint="All that docs/jobs.md has. The form shows what it has room for." problem={problem}>
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

function written(job: JobInput): string {
  return JSON.stringify(job, undefined, 2);
}
