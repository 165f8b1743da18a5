/** A story as text: what happened when, a line each. */
import type { StoryOut } from "../../api/wire-trace.ts";
import { showable } from "../../runtime/showable.ts";
import { type Screen, steps, table } from "../terminal.ts";

type LineOut = StoryOut["lines"][number];

/** These stand for themselves; the others tell of the lease before them. */
const OWN_LINES: readonly LineOut["kind"][] = ["submitted", "replayed", "leased", "lost", "settled", "waits"];

export function storyText(story: StoryOut, screen: Screen): string {
  const { job, jobState, url, submittedAt, lines } = story;
  const rows = lines.map(({ at, kind, words }) => [
    at === null ? "" : clockTime(at, submittedAt),
    `${OWN_LINES.includes(kind) ? "" : "  "}${words}`,
  ]);
  return [
    `${screen.paint.bold(showable(url))}\n`,
    `${showable(`${soleTask(story)}job ${job} (${jobState}), ${dayOf(submittedAt)}, times in UTC`)}\n\n`,
    table(rows, { width: screen.outColumns(), paint: { 0: screen.paint.dim } }),
    moreText(story, screen),
  ].join("");
}

function soleTask({ tasks: [task, other] }: StoryOut): string {
  return task === undefined || other !== undefined ? "" : `task ${task.taskId} of `;
}

function moreText({ state, job }: StoryOut, screen: Screen): string {
  if (state === "dead") return `\n${steps([["try it again", `dead ${job} --replay`]], screen)}`;
  return "";
}

/** The day is told once; on another one it is told again. */
function clockTime(at: string, startAt: string): string {
  const time = at.slice(11, 23);
  return dayOf(at) === dayOf(startAt) ? time : `${dayOf(at).slice(5)} ${time}`;
}

function dayOf(at: string): string {
  return at.slice(0, 10);
}
