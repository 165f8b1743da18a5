/** The few numbers of a job that say how it goes, and its pace as a line. */
import { useEffect } from "preact/hooks";
import type { JobOut } from "../../../../src/client/client.ts";
import { absolute, ago, bytes, decimal, duration, plural, short } from "../../ui/format.ts";
import { Stat } from "../../ui/stat.tsx";
import { now } from "../../visible.ts";
import { hear, msToGo, paceOfJob } from "../jobs/job-pace.ts";
import { Sparkline } from "./sparkline.tsx";

/** Of a job that has ended. */
const WHOLE_SPAN = "its submission to its last end; where it was replayed, with the time between";

export function JobNumbers({ job }: { job: JobOut }) {
  const { tally, counts, finishedAt, createdAt, rate, politeness, limits } = job;
  useEffect(() => hear(job), [now.value, job]);
  const pace = paceOfJob(job);
  const until = finishedAt === null ? now.value : Date.parse(finishedAt);
  const waiting = counts.queued + counts.delayed;
  const begun = absolute(Date.parse(createdAt));
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
        tip={`${plural(counts.queued, "URL is", "URLs are")} queued, ${plural(counts.delayed, "waits", "wait")} to be tried again.`}
        more={plural(counts.leased, "in flight", "in flight")}
      />
      <Stat
        label="Given up on"
        value={short(counts.dead)}
        tone={counts.dead > 0 ? "bad" : undefined}
        tip={`${plural(counts.dead, "URL is a dead letter", "URLs are dead letters")}. See Errors for why.`}
      />
      <Stat
        label="Pages a second"
        value={decimal(pace.pages ?? rate)}
        tip={
          finishedAt === null
            ? `Over the last seconds; ${decimal(rate)} on average since it began. The line is the last two minutes.`
            : `On average from ${WHOLE_SPAN}.`
        }
        more={<Sparkline values={pace.values} label="Pages a second, the last two minutes" />}
      />
      <Stat
        label={finishedAt === null ? "To go" : "Ended after"}
        value={finishedAt === null ? duration(msToGo(job)) : duration(until - Date.parse(createdAt))}
        tip={
          finishedAt === null
            ? "Until what the job has now is done, at its pace of late. A dash: it cannot be told."
            : `From ${begun} to ${absolute(until)}: from ${WHOLE_SPAN}.`
        }
        more={finishedAt === null ? `begun ${duration(until - Date.parse(createdAt))} ago` : ago(until, now.value)}
      />
      <Stat
        label="Rate at a site"
        value={politeness.rate}
        tip={`What the job asks for, at a site without a rule of its own: ${politeness.rate}, ${plural(politeness.burst, "request", "requests")} in a burst, ${politeness.perSite} at once. A site gets the strictest of its jobs, or an operator's word: Why it waits tells whose. Priority ${job.priority}, 0 is most urgent.`}
        more={limits.pages === null ? `priority ${job.priority}` : `at most ${plural(limits.pages, "page")}`}
      />
    </div>
  );
}
