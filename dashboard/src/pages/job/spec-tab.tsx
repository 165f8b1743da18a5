/** The definition of the job, which can be submitted again. */
import { useId, useState } from "preact/hooks";
import type { JobOut } from "../../../../src/client/client.ts";
import type { WrittenJobOut } from "../../../../src/client/wire-types.ts";
import { usePolled } from "../../polled.ts";
import { go, hrefOf } from "../../router.ts";
import { api, may } from "../../session.ts";
import { Confirm } from "../../ui/dialog.tsx";
import { Loading } from "../../ui/empty.tsx";
import { plural } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { proxyText, sessionsText } from "./job-options-text.ts";
import { missingPartsText } from "./missing-parts.ts";

export function SpecTab({ job }: { job: JobOut }) {
  const [isConfirming, setIsConfirming] = useState(false);
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
              onClick={() => setIsConfirming(true)}
            >
              Run again
            </button>
            <a class="button small" href={hrefOf(["jobs", "new"], { from: job.id })}>
              Copy to new job
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
              <p class="muted" id={whyId}>
                {missingPartsText(value, job.counts.submitted).join(" ")} Use “Copy to new job” to add them.
              </p>
            )}
            <Identities {...value} />
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
            <pre class="source" tabIndex={0}>
              {JSON.stringify(value.job, undefined, 2)}
            </pre>
          </>
        )}
      </div>
      {isConfirming && value !== undefined && (
        <Confirm
          title="Run this job again?"
          verb="Run again"
          act={async () => {
            const { id } = await api().submit(value.job);
            go(hrefOf(["jobs", id]));
          }}
          onClose={() => setIsConfirming(false)}
        >
          <p>This submits a new job with the same {plural(value.job.urls?.length ?? 0, "start URL")} and rules.</p>
        </Confirm>
      )}
    </Card>
  );
}

/** The sessions and proxies that the requests of the job use. The definition does not contain the login. */
function Identities({ job, missing }: WrittenJobOut) {
  const hasLogin = missing.includes("login");
  const hasSessions = hasLogin || job.cookies === true || job.sessions !== undefined;
  if (!hasSessions && job.proxy === undefined) return null;
  return (
    <dl class="identities">
      <dt>Sessions</dt>
      <dd>
        {hasSessions ? sessionsText({ ...job, cookies: true }) : sessionsText(job)}
        {hasLogin && "; each session logs in"}
      </dd>
      <dt>Proxies</dt>
      <dd>
        <Scraped text={proxyText(job)} />
        {may("admin") && (
          <>
            {" "}
            <a href={hrefOf(["proxies"])}>Show proxies</a>
          </>
        )}
      </dd>
    </dl>
  );
}
