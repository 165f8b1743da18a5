/** The same job as JSON. What cannot be read changes nothing, and says where it breaks. */
import { useEffect, useState } from "preact/hooks";
import type { JobInput } from "../../../../src/client/client.ts";
import { Field } from "../../ui/field.tsx";

export function JsonEditor({ job, onJob }: { job: JobInput; onJob: (job: JobInput) => void }) {
  const [text, setText] = useState(() => written(job));
  const [problem, setProblem] = useState<string | undefined>(undefined);
  // A job that was changed elsewhere is shown; one that says the same in other spaces stays as it was typed.
  useEffect(() => {
    if (JSON.stringify(job) !== JSON.stringify(readOf(text).job ?? {})) setText(written(job));
  }, [job]);
  const type = (typed: string) => {
    setText(typed);
    const read = readOf(typed);
    setProblem(read.problem);
    if (read.job !== undefined) onJob(read.job);
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

function readOf(text: string): { job?: JobInput; problem?: string } {
  try {
    const job: unknown = JSON.parse(text);
    if (typeof job === "object" && job !== null && !Array.isArray(job)) return { job: job as JobInput };
    return { problem: "A job is an object: { … }" };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
