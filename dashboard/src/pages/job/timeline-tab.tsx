/**
 * The timeline of one URL of the job. Without a URL: the failed attempts, dead letters and slowest pages of the job.
 */
import { useEffect, useState } from "preact/hooks";
import { isApiError, type JobOut } from "../../../../src/client/client.ts";
import { usePolled } from "../../polled.ts";
import { route, setQuery } from "../../router.ts";
import { api } from "../../session.ts";
import { Empty, Loading } from "../../ui/empty.tsx";
import { TextField } from "../../ui/field.tsx";
import { Problem } from "../../ui/problem.tsx";
import { RefreshRow } from "../explain/refresh-row.tsx";
import { TracedJob } from "../explain/traced-job.tsx";
import { TracedPage } from "../explain/traced-page.tsx";
import { hasEnded } from "../jobs/job-counts.ts";

/** The store searches all entries of the job, so there is no polling; the user refreshes. */
const ONCE = 0;

export function TimelineTab({ job }: { job: JobOut }) {
  const target = route.value.query.of ?? "";
  const [typed, setTyped] = useState(target);
  useEffect(() => setTyped(target), [target]);
  return (
    <>
      <form
        class="filters is-wide"
        onSubmit={(event) => {
          event.preventDefault();
          setQuery({ of: typed.trim() });
        }}
      >
        <TextField
          label="URL or task id"
          isLabelHidden
          type="search"
          placeholder="URL or task id"
          value={typed}
          onInput={setTyped}
        />
        <button type="submit">Show</button>
      </form>
      <TraceResult key={target} job={job} target={target} />
    </>
  );
}

function TraceResult({ job, target }: { job: JobOut; target: string }) {
  const query = target === "" ? { job: job.id } : { what: target, job: job.id };
  const { value, error, reload } = usePolled((signal) => api().trace(query, { signal }), ONCE, [
    job.id,
    target,
    job.state,
  ]);
  if (isApiError(error, "NOT_FOUND")) {
    return (
      <Empty title="This job has no such URL or task.">
        <p>Enter the full URL, as the Pages tab or the dead letters show it.</p>
      </Empty>
    );
  }
  return (
    <>
      {value === undefined && error === undefined && <Loading />}
      <Problem error={error} onRetry={reload} />
      {value?.timelines.map((timeline) => (
        <TracedPage key={timeline.url} timeline={timeline} />
      ))}
      {value?.jobs.map((traced) => (
        <TracedJob key={traced.job.id} traced={traced} isOnJobPage />
      ))}
      {value !== undefined && !hasEnded(job) && <RefreshRow hidden={value.more} onRefresh={reload} />}
    </>
  );
}
