/** The job as it was written, to be looked at and submitted again. */
import { useId, useState } from "preact/hooks";
import type { JobOut } from "../../../../src/client/client.ts";
import { usePolled } from "../../polled.ts";
import { go, hrefOf } from "../../router.ts";
import { api, may } from "../../session.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { Loading } from "../../ui/empty.tsx";
import { plural } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { missingWords } from "./missing-words.ts";

export function SpecTab({ job }: { job: JobOut }) {
  const [isAsked, setIsAsked] = useState(false);
  const { value, error, isLoading, reload } = usePolled((signal) => api().job(job.id).spec({ signal }), 0, [job.id]);
  const whyId = useId();
  const isWhole = value !== undefined && value.missing.length === 0;
  return (
    <Card
      title="Definition"
      actions={
        value !== undefined &&
        may("submit") && (
          <span class="job-actions">
            <button
              type="button"
              class="small"
              disabled={!isWhole}
              aria-describedby={isWhole ? undefined : whyId}
              onClick={() => setIsAsked(true)}
            >
              Run again
            </button>
            <a class="button small" href={hrefOf(["jobs", "new"], { from: job.id })}>
              Edit as new
            </a>
          </span>
        )
      }
    >
      <div class="card-body">
        {isLoading && <Loading />}
        <Problem error={error} onRetry={reload} />
        {value !== undefined && (
          <>
            {!isWhole && (
              <p class="quiet" id={whyId}>
                {missingWords(value, job.counts.submitted).join(" ")} So it cannot just run again.
              </p>
            )}
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keys */}
            <pre class="source" tabIndex={0}>
              {JSON.stringify(value.job, undefined, 2)}
            </pre>
          </>
        )}
      </div>
      {isAsked && value !== undefined && (
        <Confirm
          title="Run this job again?"
          verb="Run again"
          act={async () => {
            const { id } = await api().submit(value.job);
            go(hrefOf(["jobs", id]));
          }}
          onClose={() => setIsAsked(false)}
        >
          <p>A new job with the same {plural(value.job.urls?.length ?? 0, "start URL")} and rules is submitted.</p>
        </Confirm>
      )}
    </Card>
  );
}
