/** Formats the timeline of a page, one event per line. */
import type { TimelineOut } from "../../client/wire-types.ts";
import { showable } from "../../runtime/showable.ts";
import { type Screen, steps, table, withCommand } from "../terminal.ts";

type LineOut = TimelineOut["lines"][number];

/** Lines of these kinds are not indented; the others belong to the attempt above them. */
const OWN_LINES: readonly LineOut["kind"][] = ["submitted", "replayed", "leased", "lost", "settled", "waits"];

export function timelineText(timeline: TimelineOut, screen: Screen): string {
  const { job, jobState, url, submittedAt, lines } = timeline;
  const rows = lines.map(({ at, kind, text }) => [
    at === null ? "" : clockTime(at, submittedAt),
    `${OWN_LINES.includes(kind) ? "" : "  "}${kind === "waits" ? withCommand(text, screen) : text}`,
  ]);
  return [
    `${screen.paint.bold(showable(url))}\n`,
    `${showable(`${soleTask(timeline)}job ${job} (${jobState}), ${dayOf(submittedAt)}, times in UTC`)}\n\n`,
    table(rows, { width: screen.outColumns(), paint: { 0: screen.paint.dim } }),
    moreText(timeline, screen),
  ].join("");
}

function soleTask({ tasks: [task, other] }: TimelineOut): string {
  return task === undefined || other !== undefined ? "" : `task ${task.taskId} of `;
}

function moreText({ state, job }: TimelineOut, screen: Screen): string {
  if (state === "dead") return `\n${steps([["retry", `dead ${job} --replay`]], screen)}`;
  return "";
}

/** The time of day. The date is added only if it differs from the date in the heading. */
function clockTime(at: string, startAt: string): string {
  const time = at.slice(11, 23);
  return dayOf(at) === dayOf(startAt) ? time : `${dayOf(at).slice(5)} ${time}`;
}

function dayOf(at: string): string {
  return at.slice(0, 10);
}
