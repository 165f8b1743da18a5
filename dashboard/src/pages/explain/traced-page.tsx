/** The timeline of a page in one job. */
import type { TimelineOut } from "../../../../src/client/wire-types.ts";
import { hrefOf } from "../../router.ts";
import { may } from "../../session.ts";
import { Badge, JobState, type Tone } from "../../ui/badge.tsx";
import { plural } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { ScrapedLink } from "../../ui/scraped.tsx";
import { Timeline } from "../../ui/timeline.tsx";
import "./explain.css";

const STATES: Readonly<Record<NonNullable<TimelineOut["state"]>, { label: string; tone: Tone }>> = {
  queued: { label: "queued", tone: "busy" },
  delayed: { label: "waiting for retry", tone: "warn" },
  leased: { label: "in flight", tone: "busy" },
  dead: { label: "failed", tone: "bad" },
  ended: { label: "done", tone: "good" },
};

export function TracedPage({ timeline }: { timeline: TimelineOut }) {
  const { url, job, jobState, state, tasks, lines } = timeline;
  const known = state === null ? undefined : STATES[state];
  const attempts = tasks.reduce((sum, { leases }) => sum + leases.length, 0);
  const replays = lines.filter(({ kind }) => kind === "replayed").length;
  const replayText = replays === 0 ? "" : `, ${plural(replays, "replay")}`;
  return (
    <Card
      title="History"
      actions={
        <span class="muted">
          {plural(attempts, "attempt")}
          {replayText}
        </span>
      }
    >
      <div class="card-body trace">
        <div class="trace-head">
          <ScrapedLink url={url} max={200} />
          {known !== undefined && <Badge tone={known.tone}>{known.label}</Badge>}
          <span>
            in job <a href={hrefOf(["jobs", job])}>{job}</a>
          </span>
          <JobState state={jobState} />
        </div>
        <Timeline timeline={timeline} />
        {state === "dead" && (
          <p>
            <a href={hrefOf(["dead"], { job })}>
              {may("submit") ? "Replay or discard this URL in the dead letters" : "Show the dead letters"} of this job
            </a>
          </p>
        )}
      </div>
    </Card>
  );
}
