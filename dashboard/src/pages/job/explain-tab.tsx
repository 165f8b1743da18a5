import type { JobOut } from "../../../../src/client/client.ts";
import { usePolled } from "../../polled.ts";
import { api } from "../../session.ts";
import { Loading } from "../../ui/empty.tsx";
import { duration } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { Reasons } from "../explain/reasons.tsx";
import { hasEnded } from "../jobs/job-counts.ts";
import { msLeft } from "../jobs/job-pace.ts";
import "../explain/explain.css";

const POLL_MS = 3_000;

/** Why the job waits: the same text as in `trawl explain`. */
export function ExplainTab({ job }: { job: JobOut }) {
  const { value, error, isLoading, reload } = usePolled(
    (signal) => api().explain({ job: job.id }, { signal }),
    hasEnded(job) ? 0 : POLL_MS,
    [job.id, job.state],
  );
  const timeLeftMs = msLeft(job);
  return (
    <>
      {isLoading && <Loading />}
      <Problem error={error} onRetry={reload} />
      {value !== undefined && <Reasons explained={value} />}
      {timeLeftMs !== null && (
        <p class="muted">
          Estimated time left for this job: {duration(timeLeftMs)}. A time above is for one site: it is how long the
          waiting URLs of all jobs take at the rate of that site.
        </p>
      )}
    </>
  );
}
