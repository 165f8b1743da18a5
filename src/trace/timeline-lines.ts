/** Formats a timeline as one line per event. The API, the CLI and the dashboard show the same lines. */

import { formatDuration } from "../domain/duration.ts";
import { formatBytes, plural } from "../domain/format-number.ts";
import { hasEnded } from "../domain/job.ts";
import type { Visibility } from "../frontier/frontier-admin.ts";
import { shortProcess } from "../runtime/process-identity.ts";
import { isReplay, type Lease, type TaskTimeline, type Timeline } from "./timeline.ts";

/** The kinds of events. */
export const LINE_KINDS = [
  ...["submitted", "replayed", "leased", "lost", "failed", "dead", "refused", "returned", "passed"],
  ...["fetched", "kept", "settled", "waits"],
] as const;
export type LineKind = (typeof LINE_KINDS)[number];

/** `at` is undefined if the time is unknown or the event has not ended. */
type Line = { at: number | undefined; kind: LineKind; text: string };

const REPLAYED: Line = { at: undefined, kind: "replayed", text: "replayed: the count of attempts starts again at 1" };

/** The lines of a timeline. They contain the names of workers only if `visibility` is "all". */
export function timelineLines(timeline: Timeline, visibility: Visibility): Line[] {
  const { job, requestId, tasks } = timeline;
  const by = requestId === undefined ? "" : ` by request ${requestId}`;
  return [
    { at: job.createdAt, kind: "submitted", text: `submitted${by} to queue ${job.queue}` },
    ...tasks.flatMap((task) => taskLines(task, tasks.length > 1, visibility)),
    ...endLines(timeline),
  ];
}

function taskLines({ taskId, step, leases }: TaskTimeline, isNamed: boolean, visibility: Visibility): Line[] {
  const what = step === "fetch" ? "" : ` to ${step}`;
  return leases.flatMap((lease, nth) => [
    ...(isReplay(leases[nth - 1], lease) ? [REPLAYED] : []),
    ...leaseLines(lease, isNamed ? `${what} (task ${taskId})` : what, visibility),
  ]);
}

function leaseLines(lease: Lease, what: string, visibility: Visibility): Line[] {
  switch (lease.kind) {
    case "lost":
      return [{ at: undefined, kind: "lost", text: `leased${what}; no end was recorded: the worker crashed` }];
    case "attempt":
      return [
        {
          at: lease.leasedAt,
          kind: "leased",
          text: `attempt ${lease.attempt}${what}: leased${byWorker(lease.worker, visibility)}`,
        },
        { at: lease.endedAt, kind: lease.outcome === "retry" ? "failed" : lease.outcome, text: endText(lease) },
      ];
    case "page":
      return pageLines(lease, what, visibility);
  }
}

function byWorker(worker: string, visibility: Visibility): string {
  return visibility === "own" ? "" : ` by ${shortProcess(worker)}`;
}

function endText({ outcome, because, status, detail, leasedAt, endedAt }: Lease & { kind: "attempt" }): string {
  const why = `${because}${status === undefined ? "" : `, status ${status}`}`;
  const more = detail === undefined ? "" : `: ${detail}`;
  const after = `after ${formatDuration(endedAt - leasedAt)}`;
  switch (outcome) {
    case "retry":
      return `failed ${after}: ${why}${more}`;
    case "dead":
      return `failed permanently ${after}: ${why}${more}`;
    case "refused":
      return `not fetched: ${why}${more}`;
    case "returned":
      return `${because}, ${after}`;
    case "passed":
      return `${status === undefined ? "" : `status ${status}; `}${because}, ${after}`;
  }
}

function pageLines(lease: Lease & { kind: "page" }, what: string, visibility: Visibility): Line[] {
  const { page, worker, attempt, leasedAt, endedAt } = lease;
  // The page of a parse step was fetched before this lease, by another worker.
  const isOwn = leasedAt !== undefined && page.fetchedAt >= leasedAt;
  const sentAt = page.fetchedAt - page.tookMs;
  const waited = isOwn ? `, request sent after ${formatDuration(Math.max(0, sentAt - leasedAt))}` : "";
  const to = page.headers.location;
  const isRedirect = page.status >= 300 && page.status < 400 && to !== undefined;
  const leased: Line[] =
    worker === undefined
      ? []
      : [
          {
            at: leasedAt,
            kind: "leased",
            text: `attempt ${attempt}${what}: leased${byWorker(worker, visibility)}${waited}`,
          },
        ];
  const response = `status ${page.status}, ${formatBytes(page.bodyBytes)} in ${formatDuration(page.tookMs)}`;
  return [
    ...leased,
    {
      at: isOwn || leasedAt === undefined ? page.fetchedAt : leasedAt,
      kind: "fetched",
      text: `${isOwn ? "" : "page was fetched earlier: "}${response}${isRedirect ? `: redirected to ${to}` : ""}`,
    },
    { at: endedAt, kind: "kept", text: storedText(page) },
  ];
}

function storedText({ records, invalid, bodyRef }: (Lease & { kind: "page" })["page"]): string {
  const bad = invalid === 0 ? "" : `, ${plural(invalid, "invalid record")}`;
  const body = bodyRef === undefined ? "body not stored" : `body ${bodyRef}`;
  return `stored: ${plural(records, "record")}${bad}, ${body}`;
}

function endLines({ state, waits, tasks, job, isKept }: Timeline): Line[] {
  if (state !== "ended") {
    const isReplayed = state !== undefined && state !== "dead" && tasks.some(hasFailed);
    const waiting = waits.map((text) => ({ at: undefined, kind: "waits" as const, text }));
    return [...(isReplayed ? [REPLAYED] : []), ...waiting];
  }
  const last = tasks.flatMap(({ leases }) => leases).at(-1);
  if (last?.kind === "page" && last.endedAt !== undefined) {
    const after = formatDuration(last.endedAt - job.createdAt);
    return [{ at: last.endedAt, kind: "settled", text: `complete, ${after} after submission` }];
  }
  const text = last === undefined ? noAttemptsText(isKept, hasEnded(job.state)) : "ended";
  return [{ at: undefined, kind: "settled", text }];
}

function hasFailed({ leases }: TaskTimeline): boolean {
  const last = leases.at(-1);
  return last?.kind === "attempt" && last.outcome === "dead";
}

function noAttemptsText(isKept: boolean, isOver: boolean): string {
  if (!isKept) return "ended; the job stores no pages, so its attempts were not recorded";
  return isOver ? "ended or cancelled; no attempts were recorded" : "ended; no attempts were recorded";
}
