/** How one page went in one job: what happened when, a line each, in the words of the server. */
import type { StoryOut } from "../../../src/api/wire-trace.ts";
import type { Tone } from "./badge.tsx";
import { absolute, duration, withTimes } from "./format.ts";
import { ScrapedWords } from "./scraped.tsx";
import { Tip } from "./tip.tsx";
import "./timeline.css";

type LineOut = StoryOut["lines"][number];

const TONES: Readonly<Record<LineOut["kind"], Tone>> = {
  submitted: "quiet",
  replayed: "quiet",
  leased: "busy",
  lost: "bad",
  failed: "warn",
  dead: "bad",
  refused: "warn",
  returned: "quiet",
  passed: "good",
  fetched: "good",
  kept: "good",
  settled: "good",
  waits: "warn",
};

/** These tell of the lease before them. */
const PARTS: readonly LineOut["kind"][] = ["failed", "dead", "refused", "returned", "passed", "fetched", "kept"];

export function Timeline({ story }: { story: Pick<StoryOut, "lines" | "submittedAt"> }) {
  const startAt = Date.parse(story.submittedAt);
  return (
    <ol class="timeline">
      {story.lines.map(({ at, kind, words }, nth) => (
        <li key={nth} class={`timeline-line timeline-${TONES[kind]}${PARTS.includes(kind) ? " is-part" : ""}`}>
          <span class="timeline-at">{at === null ? "" : <Since at={Date.parse(at)} startAt={startAt} />}</span>
          <span class="timeline-words">
            <ScrapedWords text={withTimes(words)} most={2_000} />
          </span>
        </li>
      ))}
    </ol>
  );
}

function Since({ at, startAt }: { at: number; startAt: number }) {
  return (
    <Tip says={absolute(at)} isQuiet>
      <time dateTime={new Date(at).toISOString()}>{at <= startAt ? "0 s" : `+${duration(at - startAt)}`}</time>
    </Tip>
  );
}
