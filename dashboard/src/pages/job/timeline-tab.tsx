/** How one request of the job went, try by try; without one, what failed, what took longest, and which to ask for. */
import { useEffect, useState } from "preact/hooks";
import { isApiError, type JobOut } from "../../../../src/client/client.ts";
import { usePolled } from "../../polled.ts";
import { place, setQuery } from "../../router.ts";
import { api } from "../../session.ts";
import { Empty, Loading } from "../../ui/empty.tsx";
import { TextField } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";
import { LookAgain } from "../explain/look-again.tsx";
import { TracedJob } from "../explain/traced-job.tsx";
import { TracedPage } from "../explain/traced-page.tsx";
import { hasEnded } from "../jobs/job-numbers.ts";

/** To tell it, the store looks through what the job has: once, and again when somebody wants to know. */
const ONCE = 0;

export function TimelineTab({ job }: { job: JobOut }) {
  const asked = place.value.query.of ?? "";
  const [word, setWord] = useState(asked);
  useEffect(() => setWord(asked), [asked]);
  return (
    <>
      <form
        class="filters is-wide"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ of: word.trim() });
        }}
      >
        <TextField
          label="A URL of the job, or the number of a task"
          isLabelHidden
          type="search"
          placeholder="URL or number of a task"
          value={word}
          onInput={setWord}
        />
        <button type="submit">Show</button>
      </form>
      <Traced key={asked} job={job} word={asked} />
    </>
  );
}

function Traced({ job, word }: { job: JobOut; word: string }) {
  const target = word === "" ? { job: job.id } : { what: word, job: job.id };
  const { value, error, reload } = usePolled((signal) => api().trace(target, { signal }), ONCE, [
    job.id,
    word,
    job.state,
  ]);
  if (isApiError(error, "NOT_FOUND")) {
    return (
      <Empty title="The job has nothing like that.">
        <p>Give the whole URL, as the list of pages or of dead letters has it.</p>
      </Empty>
    );
  }
  return (
    <>
      {value === undefined && error === undefined && <Loading />}
      <Problem error={error} onRetry={reload} />
      {value?.stories.map((story) => (
        <TracedPage key={story.url} story={story} />
      ))}
      {value?.jobs.map((traced) => (
        <TracedJob key={traced.job.id} traced={traced} />
      ))}
      {value !== undefined && !hasEnded(job) && <LookAgain more={value.more} onLook={reload} />}
    </>
  );
}
