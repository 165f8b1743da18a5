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

/** `at` is undefined if the time is unknown or the event is still going on. */
export type Line = { at: number | undefined; kind: LineKind; words: string };

const REPLAYED: Line = { at: undefined, kind: "replayed", words: "replayed: attempts are counted from 1 again" };

/** The names of workers are included only if `hearing` is "all". */
export function timelineLines(timeline: Timeline, hearing: Visibility): Line[] {
  const { job, requestId, tasks } = timeline;
  const by = requestId === undefined ? "" : ` by request ${requestId}`;
  return [
    { at: job.createdAt, kind: "submitted", words: `submitted${by} to queue ${job.queue}` },
    ...tasks.flatMap((task) => taskLines(task, tasks.length > 1, hearing)),
    ...endLines(timeline),
  ];
}

function taskLines({ taskId, step, leases }: TaskTimeline, isNamed: boolean, hearing: Visibility): Line[] {
  const what = step === "fetch" ? "" : ` to ${step}`;
  return leases.flatMap((lease, nth) => [
    ...(isReplay(leases[nth - 1], lease) ? [REPLAYED] : []),
    ...leaseLines(lease, isNamed ? `${what} (task ${taskId})` : what, hearing),
  ]);
}

function leaseLines(lease: Lease, what: string, hearing: Visibility): Line[] {
  switch (lease.kind) {
    case "lost":
      return [{ at: undefined, kind: "lost", words: `leased${what}; no end was recorded: the worker crashed` }];
    case "try":
      return [
        {
          at: lease.leasedAt,
          kind: "leased",
          words: `attempt ${lease.attempt}${what}: leased${byWorker(lease.worker, hearing)}`,
        },
        { at: lease.endedAt, kind: lease.fate === "retry" ? "failed" : lease.fate, words: endText(lease) },
      ];
    case "page":
      return pageLines(lease, what, hearing);
  }
}

function byWorker(worker: string, hearing: Visibility): string {
  return hearing === "own" ? "" : ` by ${shortProcess(worker)}`;
}

function endText({ fate, because, status, detail, leasedAt, endedAt }: Lease & { kind: "try" }): string {
  const why = `${because}${status === undefined ? "" : `, status ${status}`}`;
  const more = detail === undefined ? "" : `: ${detail}`;
  const after = `after ${formatDuration(endedAt - leasedAt)}`;
  switch (fate) {
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

function pageLines(lease: Lease & { kind: "page" }, what: string, hearing: Visibility): Line[] {
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
            words: `attempt ${attempt}${what}: leased${byWorker(worker, hearing)}${waited}`,
          },
        ];
  const answer = `status ${page.status}, ${formatBytes(page.bodyBytes)} in ${formatDuration(page.tookMs)}`;
  return [
    ...leased,
    {
      at: isOwn || leasedAt === undefined ? page.fetchedAt : leasedAt,
      kind: "fetched",
      words: `${isOwn ? "" : "page fetched before: "}${answer}${isRedirect ? `: redirected to ${to}` : ""}`,
    },
    { at: endedAt, kind: "kept", words: storedText(page) },
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
    const waiting = waits.map((words) => ({ at: undefined, kind: "waits" as const, words }));
    return [...(isReplayed ? [REPLAYED] : []), ...waiting];
  }
  const last = tasks.flatMap(({ leases }) => leases).at(-1);
  if (last?.kind === "page" && last.endedAt !== undefined) {
    const after = formatDuration(last.endedAt - job.createdAt);
    return [{ at: last.endedAt, kind: "settled", words: `complete, ${after} after submission` }];
  }
  const words = last === undefined ? noAttemptsText(isKept, hasEnded(job.state)) : "ended";
  return [{ at: undefined, kind: "settled", words }];
}

function hasFailed({ leases }: TaskTimeline): boolean {
  const last = leases.at(-1);
  return last?.kind === "try" && last.fate === "dead";
}

function noAttemptsText(isKept: boolean, isOver: boolean): string {
  if (!isKept) return "ended; the job stores no pages, so its attempts were not recorded";
  return isOver ? "cancelled, or ended before attempts were recorded" : "ended; no attempts were recorded";
}
