/** The key numbers of a job. */
import { useEffect } from "preact/hooks";
import type { JobOut } from "../../../../src/client/client.ts";
import { absolute, ago, bytes, decimal, duration, plural, short } from "../../ui/format.ts";
import { Stat } from "../../ui/stat.tsx";
import { now } from "../../visible.ts";
import { jobPaceOf, msLeft, recordSample } from "../jobs/job-pace.ts";

/** The time span that the numbers of an ended job cover. */
const WHOLE_SPAN = "the time from the submission of the job to its last end, including any time before a replay";

export function JobStats({ job }: { job: JobOut }) {
  const { tally, counts, finishedAt, createdAt, rate, politeness, limits } = job;
  useEffect(() => recordSample(job), [now.value, job]);
  const pace = jobPaceOf(job);
  const until = finishedAt === null ? now.value : Date.parse(finishedAt);
  const waiting = counts.queued + counts.delayed;
  const started = absolute(Date.parse(createdAt));
  return (
    <div class="stats seven-stats">
      <Stat
        label="Pages"
        value={short(tally.pages)}
        tip={`${plural(tally.pages, "page was", "pages were")} fetched and stored.`}
        more={bytes(tally.bytes)}
      />
      <Stat
        label="Records"
        value={short(tally.records)}
        tip={`${plural(tally.records, "record was", "records were")} extracted and stored.`}
        more={tally.invalid > 0 ? `${short(tally.invalid)} invalid` : ""}
      />
      <Stat
        label="Waiting"
        value={short(waiting)}
        tip={`${plural(counts.queued, "URL is", "URLs are")} queued, ${plural(counts.delayed, "waits", "wait")} for a retry.`}
        more={plural(counts.leased, "in flight", "in flight")}
      />
      <Stat
        label="Failed"
        value={short(counts.dead)}
        tone={counts.dead > 0 ? "bad" : undefined}
        tip={`${plural(counts.dead, "URL", "URLs")} failed permanently. The Errors tab shows the reasons.`}
      />
      <Stat
        label="Pages/s"
        value={decimal(pace.pages ?? rate)}
        tip={
          finishedAt === null
            ? `The recent rate. Average since the start: ${decimal(rate)}. The line shows the last two minutes.`
            : `Average over ${WHOLE_SPAN}.`
        }
        more={<Sparkline values={pace.values} label="Pages per second in the last two minutes" />}
      />
      <Stat
        label={finishedAt === null ? "Time left" : "Duration"}
        value={finishedAt === null ? duration(msLeft(job)) : duration(until - Date.parse(createdAt))}
        tip={
          finishedAt === null
            ? "Estimated time until all known URLs are finished, at the recent rate. A dash means unknown."
            : `From ${started} to ${absolute(until)}. This is ${WHOLE_SPAN}.`
        }
        more={
          finishedAt === null
            ? `started ${duration(until - Date.parse(createdAt))} ago`
            : `ended ${ago(until, now.value)}`
        }
      />
      <Stat
        label="Rate per site"
        value={politeness.rate}
        tip={`Limits of this job for each site: rate ${politeness.rate}, burst ${politeness.burst}, ${politeness.perSite} in flight. A site uses the strictest limits of its jobs, or the operator's override. The Explain tab shows which limits apply. The priority of the job is ${job.priority}; 0 is most urgent.`}
        more={limits.pages === null ? `priority ${job.priority}` : `limit ${plural(limits.pages, "page")}`}
      />
    </div>
  );
}

const WIDTH = 120;
const HEIGHT = 18;

/** A line chart without axes. */
function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  if (values.length < 2) return null;
  const max = Math.max(...values, 1e-9);
  const step = WIDTH / (values.length - 1);
  const points = values.map(
    (value, nth) => `${(nth * step).toFixed(1)},${(HEIGHT - 1 - (value / max) * (HEIGHT - 2)).toFixed(1)}`,
  );
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <polyline points={points.join(" ")} />
    </svg>
  );
}
