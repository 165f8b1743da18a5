/** A story as text: what happened when, a line each. */
import { formatDuration } from "../../domain/duration.ts";
import { hasEnded } from "../../domain/job.ts";
import { shortProcess } from "../../runtime/process-id.ts";
import { createRedact } from "../../runtime/redact.ts";
import { showable } from "../../runtime/showable.ts";
import { formatBytes, plural, type Screen, steps, table } from "../terminal.ts";
import type { Lease, Story, TaskStory } from "./story.ts";

const { text: safe } = createRedact([]);

type Line = readonly [at: number | undefined, words: string];

export function storyText(story: Story, screen: Screen): string {
  const { job, url, requestId, tasks } = story;
  const lines: Line[] = [
    [job.createdAt, `submitted${requestId === undefined ? "" : ` by request ${requestId}`}, to queue ${job.queue}`],
    ...tasks.flatMap((task) => taskLines(task, tasks.length > 1)),
    ...endLines(story),
  ];
  const rows = lines.map(([at, words]) => [at === undefined ? "" : clockTime(at, job.createdAt), safe(words)]);
  return [
    `${screen.paint.bold(showable(safe(url)))}\n`,
    `${showable(`${soleTask(tasks)}job ${job.id} (${job.state}), ${dayOf(job.createdAt)}, times in UTC`)}\n\n`,
    table(rows, { width: screen.outColumns(), paint: { 0: screen.paint.dim } }),
    moreText(story, screen),
  ].join("");
}

function soleTask([task, other]: readonly TaskStory[]): string {
  return task === undefined || other !== undefined ? "" : `task ${task.taskId} of `;
}

function taskLines({ taskId, step, leases }: TaskStory, isNamed: boolean): Line[] {
  const what = step === "fetch" ? "" : ` to ${step}`;
  return leases.flatMap((lease) => leaseLines(lease, isNamed ? `${what} (task ${taskId})` : what));
}

function leaseLines(lease: Lease, what: string): Line[] {
  switch (lease.kind) {
    case "lost":
      return [[undefined, `leased${what}, and its worker was never heard of again`]];
    case "try":
      return [
        [lease.leasedAt, `try ${lease.attempt}${what}: leased by ${shortProcess(lease.worker)}`],
        [lease.endedAt, `  ${endWords(lease)}`],
      ];
    case "page":
      return pageLines(lease, what);
  }
}

function endWords({ fate, because, status, detail, leasedAt, endedAt }: Lease & { kind: "try" }): string {
  const why = `${because}${status === undefined ? "" : `, status ${status}`}`;
  const said = detail === undefined ? "" : `: ${detail}`;
  const after = `after ${formatDuration(endedAt - leasedAt)}`;
  switch (fate) {
    case "retry":
      return `failed ${after}: ${why}${said}`;
    case "dead":
      return `failed for good ${after}: ${why}${said}`;
    case "refused":
      return `not fetched: ${why}${said}`;
    case "returned":
      return `${because}, ${after}`;
    case "passed":
      return `${status === undefined ? "" : `status ${status}; `}${because}, ${after}`;
  }
}

function pageLines({ page, worker, attempt, leasedAt, endedAt }: Lease & { kind: "page" }, what: string): Line[] {
  // A page that another has fetched was sent for before.
  const isOwn = leasedAt !== undefined && page.fetchedAt >= leasedAt;
  const sentAt = page.fetchedAt - page.tookMs;
  const waited = isOwn ? `, sent after ${formatDuration(Math.max(0, sentAt - leasedAt))}` : "";
  const to = page.headers.location;
  const isRedirect = page.status >= 300 && page.status < 400 && to !== undefined;
  return [
    ...(worker === undefined
      ? []
      : [[leasedAt, `try ${attempt}${what}: leased by ${shortProcess(worker)}${waited}`] as const]),
    [
      isOwn || leasedAt === undefined ? page.fetchedAt : leasedAt,
      `  ${isOwn ? "" : "of "}status ${page.status}, ${formatBytes(page.bodyBytes)} in ${formatDuration(page.tookMs)}${isRedirect ? `: redirected to ${to}` : ""}`,
    ],
    [endedAt, `  ${keptWords(page)}`],
  ];
}

function keptWords({ records, invalid, bodyRef }: (Lease & { kind: "page" })["page"]): string {
  const bad = invalid === 0 ? "" : `, ${plural(invalid, "invalid record")}`;
  const body = bodyRef === undefined ? "its body is not kept" : `body ${bodyRef}`;
  return `kept: ${plural(records, "record")}${bad}, ${body}`;
}

function endLines({ state, waits, tasks, job, isKept }: Story): Line[] {
  if (state === "ended") {
    const last = tasks.flatMap(({ leases }) => leases).at(-1);
    if (last?.kind === "page" && last.endedAt !== undefined) {
      return [
        [last.endedAt, `settled as done, ${formatDuration(last.endedAt - job.createdAt)} after it was submitted`],
      ];
    }
    return [[undefined, last === undefined ? nothingKept(isKept, hasEnded(job.state)) : "settled"]];
  }
  return waits.map((words) => [undefined, words]);
}

function nothingKept(isKept: boolean, isOver: boolean): string {
  if (!isKept) return "settled; the job keeps no pages, so nothing is known of its tries";
  return isOver ? "cancelled, or settled before tries were kept" : "settled, and nothing was kept of it";
}

function moreText({ state, job }: Story, screen: Screen): string {
  if (state === "dead") return `\n${steps([["try it again", `dead ${job.id} --replay`]], screen)}`;
  return "";
}

/** The day is told once; on another one it is told again. */
function clockTime(at: number, startAt: number): string {
  const time = new Date(at).toISOString().slice(11, 23);
  return dayOf(at) === dayOf(startAt) ? time : `${dayOf(at).slice(5)} ${time}`;
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
