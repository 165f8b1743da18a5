import type { JobOut } from "../../../../src/client/client.ts";
import { usePolled } from "../../polled.ts";
import { api } from "../../session.ts";
import { Loading } from "../../ui/empty.tsx";
import { duration } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import { Reasons } from "../explain/reasons.tsx";
import { hasEnded } from "../jobs/job-numbers.ts";
import { msToGo } from "../jobs/job-pace.ts";
import "../explain/explain.css";

const LOOK_EVERY_MS = 3_000;

/** Why the job waits, in words, as `trawl explain` says it. */
export function ExplainTab({ job }: { job: JobOut }) {
  const { value, error, isLoading, reload } = usePolled(
    (signal) => api().explain({ job: job.id }, { signal }),
    hasEnded(job) ? 0 : LOOK_EVERY_MS,
    [job.id, job.state],
  );
  const toGo = msToGo(job);
  return (
    <>
      {isLoading && <Loading />}
      <Problem error={error} onRetry={reload} />
      {value !== undefined && <Reasons explained={value} />}
      {toGo !== null && (
        <p class="quiet">
          At its own pace, the job has {duration(toGo)} to go. What is said of a site is another number: how long all
          that waits there, of every job, takes at the rate of the site.
        </p>
      )}
    </>
  );
}
