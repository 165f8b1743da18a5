/** The timeline of one page in one job. The server writes the text of each line. */
import type { TimelineOut } from "../../../src/client/wire-types.ts";
import type { Tone } from "./badge.tsx";
import { absolute, duration, localizeTimes } from "./format.ts";
import { ScrapedText } from "./scraped.tsx";
import { Tip } from "./tip.tsx";
import "./timeline.css";

type LineOut = TimelineOut["lines"][number];

const TONES: Readonly<Record<LineOut["kind"], Tone>> = {
  submitted: "neutral",
  replayed: "neutral",
  leased: "busy",
  lost: "bad",
  failed: "warn",
  dead: "bad",
  refused: "warn",
  returned: "neutral",
  passed: "good",
  fetched: "good",
  kept: "good",
  settled: "good",
  waits: "warn",
};

/** Lines that belong to the lease above them. */
const PARTS: readonly LineOut["kind"][] = ["failed", "dead", "refused", "returned", "passed", "fetched", "kept"];

export function Timeline({ timeline }: { timeline: Pick<TimelineOut, "lines" | "submittedAt"> }) {
  const startAt = Date.parse(timeline.submittedAt);
  return (
    <ol class="timeline">
      {timeline.lines.map(({ at, kind, text }, nth) => (
        <li key={nth} class={`timeline-line timeline-${TONES[kind]}${PARTS.includes(kind) ? " is-part" : ""}`}>
          <span class="timeline-at">{at === null ? "" : <Since at={Date.parse(at)} startAt={startAt} />}</span>
          <span class="timeline-text">
            <ScrapedText text={localizeTimes(text)} max={2_000} />
          </span>
        </li>
      ))}
    </ol>
  );
}

function Since({ at, startAt }: { at: number; startAt: number }) {
  return (
    <Tip text={absolute(at)} isUnfocusable>
      <time dateTime={new Date(at).toISOString()}>{at <= startAt ? "0 s" : `+${duration(at - startAt)}`}</time>
    </Tip>
  );
}
