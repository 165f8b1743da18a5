/** How a page went in one job. */
import type { StoryOut } from "../../../../src/api/wire-trace.ts";
import { hrefOf } from "../../router.ts";
import { may } from "../../session.ts";
import { Badge, JobState, type Tone } from "../../ui/badge.tsx";
import { plural } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { ScrapedLink } from "../../ui/scraped.tsx";
import { Timeline } from "../../ui/timeline.tsx";
import "./explain.css";

const STATES: Readonly<Record<NonNullable<StoryOut["state"]>, { words: string; tone: Tone }>> = {
  queued: { words: "queued", tone: "busy" },
  delayed: { words: "waits for its next try", tone: "warn" },
  leased: { words: "under way", tone: "busy" },
  dead: { words: "given up on", tone: "bad" },
  ended: { words: "dealt with", tone: "good" },
};

export function TracedPage({ story }: { story: StoryOut }) {
  const { url, job, jobState, state, tasks, lines } = story;
  const known = state === null ? undefined : STATES[state];
  const tries = tasks.reduce((sum, { leases }) => sum + leases.length, 0);
  const replays = lines.filter(({ kind }) => kind === "replayed").length;
  const anew = replays === 0 ? "" : `, replayed ${plural(replays, "time")}`;
  return (
    <Card
      title="How it went"
      actions={
        <span class="quiet">
          {plural(tries, "try", "tries")}
          {anew}
        </span>
      }
    >
      <div class="card-body story">
        <div class="story-head">
          <ScrapedLink url={url} most={200} />
          {known !== undefined && <Badge tone={known.tone}>{known.words}</Badge>}
          <span>
            in job <a href={hrefOf(["jobs", job])}>{job}</a>
          </span>
          <JobState state={jobState} />
        </div>
        <Timeline story={story} />
        {state === "dead" && (
          <p>
            <a href={hrefOf(["dead"], { job })}>
              {may("submit") ? "Replay or discard it" : "Look at it"} among the dead letters of its job
            </a>
          </p>
        )}
      </div>
    </Card>
  );
}
