/** A story in words: what happened when, a line each. The API, the command line and the dashboard show the same. */
import { formatBytes, plural } from "../domain/counted.ts";
import { formatDuration } from "../domain/duration.ts";
import { hasEnded } from "../domain/job.ts";
import type { Hearing } from "../frontier/frontier-admin.ts";
import { shortProcess } from "../runtime/process-id.ts";
import { isReplay, type Lease, type Story, type TaskStory } from "./story.ts";

/** What a line tells of. Those of `WITHIN` are part of the lease before them. */
export const LINE_KINDS = [
  ...["submitted", "replayed", "leased", "lost", "failed", "dead", "refused", "returned", "passed"],
  ...["fetched", "kept", "settled", "waits"],
] as const;
export type LineKind = (typeof LINE_KINDS)[number];

/** `at` is undefined where nobody told the time, or it is not over. */
export type Line = { at: number | undefined; kind: LineKind; words: string };

const REPLAYED: Line = { at: undefined, kind: "replayed", words: "replayed: its tries begin anew" };

/** Who worked on it is told where `hearing` is of all. */
export function storyLines(story: Story, hearing: Hearing): Line[] {
  const { job, requestId, tasks } = story;
  const by = requestId === undefined ? "" : ` by request ${requestId}`;
  return [
    { at: job.createdAt, kind: "submitted", words: `submitted${by}, to queue ${job.queue}` },
    ...tasks.flatMap((task) => taskLines(task, tasks.length > 1, hearing)),
    ...endLines(story),
  ];
}

function taskLines({ taskId, step, leases }: TaskStory, isNamed: boolean, hearing: Hearing): Line[] {
  const what = step === "fetch" ? "" : ` to ${step}`;
  return leases.flatMap((lease, nth) => [
    ...(isReplay(leases[nth - 1], lease) ? [REPLAYED] : []),
    ...leaseLines(lease, isNamed ? `${what} (task ${taskId})` : what, hearing),
  ]);
}

function leaseLines(lease: Lease, what: string, hearing: Hearing): Line[] {
  switch (lease.kind) {
    case "lost":
      return [{ at: undefined, kind: "lost", words: `leased${what}, and its worker was never heard of again` }];
    case "try":
      return [
        {
          at: lease.leasedAt,
          kind: "leased",
          words: `try ${lease.attempt}${what}: leased${byWhom(lease.worker, hearing)}`,
        },
        { at: lease.endedAt, kind: lease.fate === "retry" ? "failed" : lease.fate, words: endWords(lease) },
      ];
    case "page":
      return pageLines(lease, what, hearing);
  }
}

function byWhom(worker: string, hearing: Hearing): string {
  return hearing === "own" ? "" : ` by ${shortProcess(worker)}`;
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

function pageLines(lease: Lease & { kind: "page" }, what: string, hearing: Hearing): Line[] {
  const { page, worker, attempt, leasedAt, endedAt } = lease;
  // A page that another has fetched was sent for before.
  const isOwn = leasedAt !== undefined && page.fetchedAt >= leasedAt;
  const sentAt = page.fetchedAt - page.tookMs;
  const waited = isOwn ? `, sent after ${formatDuration(Math.max(0, sentAt - leasedAt))}` : "";
  const to = page.headers.location;
  const isRedirect = page.status >= 300 && page.status < 400 && to !== undefined;
  const leased: Line[] =
    worker === undefined
      ? []
      : [{ at: leasedAt, kind: "leased", words: `try ${attempt}${what}: leased${byWhom(worker, hearing)}${waited}` }];
  const answer = `status ${page.status}, ${formatBytes(page.bodyBytes)} in ${formatDuration(page.tookMs)}`;
  return [
    ...leased,
    {
      at: isOwn || leasedAt === undefined ? page.fetchedAt : leasedAt,
      kind: "fetched",
      words: `${isOwn ? "" : "of "}${answer}${isRedirect ? `: redirected to ${to}` : ""}`,
    },
    { at: endedAt, kind: "kept", words: keptWords(page) },
  ];
}

function keptWords({ records, invalid, bodyRef }: (Lease & { kind: "page" })["page"]): string {
  const bad = invalid === 0 ? "" : `, ${plural(invalid, "invalid record")}`;
  const body = bodyRef === undefined ? "its body is not kept" : `body ${bodyRef}`;
  return `kept: ${plural(records, "record")}${bad}, ${body}`;
}

function endLines({ state, waits, tasks, job, isKept }: Story): Line[] {
  if (state !== "ended") {
    const isAnew = state !== undefined && state !== "dead" && tasks.some(isGivenUpOn);
    return [...(isAnew ? [REPLAYED] : []), ...waits.map((words) => ({ at: undefined, kind: "waits" as const, words }))];
  }
  const last = tasks.flatMap(({ leases }) => leases).at(-1);
  if (last?.kind === "page" && last.endedAt !== undefined) {
    const after = formatDuration(last.endedAt - job.createdAt);
    return [{ at: last.endedAt, kind: "settled", words: `settled as done, ${after} after it was submitted` }];
  }
  const words = last === undefined ? nothingKept(isKept, hasEnded(job.state)) : "settled";
  return [{ at: undefined, kind: "settled", words }];
}

function isGivenUpOn({ leases }: TaskStory): boolean {
  const last = leases.at(-1);
  return last?.kind === "try" && last.fate === "dead";
}

function nothingKept(isKept: boolean, isOver: boolean): string {
  if (!isKept) return "settled; the job keeps no pages, so nothing is known of its tries";
  return isOver ? "cancelled, or settled before tries were kept" : "settled, and nothing was kept of it";
}
