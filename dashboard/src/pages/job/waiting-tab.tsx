import type { JobOut } from "../../../../src/client/client.ts";
import { usePolled } from "../../polled.ts";
import { api } from "../../session.ts";
import { Loading } from "../../ui/empty.tsx";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Ago } from "../../ui/time.tsx";
import { hasEnded } from "../jobs/job-numbers.ts";

const LOOK_EVERY_MS = 3_000;

/** Why the job waits, in words, as `trawl explain` says it. */
export function WaitingTab({ job }: { job: JobOut }) {
  const { value, error, isLoading, reload } = usePolled(
    (signal) => api().explain({ job: job.id }, { signal }),
    hasEnded(job) ? 0 : LOOK_EVERY_MS,
    [job.id, job.state],
  );
  return (
    <Card title="Why it waits">
      <div class="card-body">
        {isLoading && <Loading />}
        <Problem error={error} onRetry={reload} />
        {value !== undefined && (
          <>
            <ul class="reasons">
              {value.reasons.map((reason) => (
                <li key={reason}>
                  <bdi>{reason}</bdi>
                </li>
              ))}
            </ul>
            {value.until !== null && (
              <p class="quiet">
                It may go on <Ago at={value.until} isQuiet={false} />.
              </p>
            )}
          </>
        )}
      </div>
    </Card>
  );
}
