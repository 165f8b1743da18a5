/** The timeline of one page of a job: the attempts that workers recorded in the store, and its state in the broker. */

import type { KnownJob } from "../control/catalogue.ts";
import type { TaskKind } from "../domain/task.ts";
import { urlsOfPage } from "../domain/task-url.ts";
import type { Explanation } from "../frontier/frontier-admin.ts";
import type { AttemptOutcome, AttemptRun, AttemptWrite, TaskQuery, TracedPage } from "../store/store.ts";
import type { TraceDeps } from "./find-traced.ts";
import { stoppedCrawl } from "./stopped-crawl.ts";

export type Lease =
  | ({
      kind: "attempt";
      token: number;
      outcome: AttemptOutcome;
      because: string;
      status?: number;
      detail?: string;
    } & AttemptRun)
  | ({ kind: "page"; token: number; page: TracedPage } & Partial<AttemptRun>)
  /** A lease without a recorded end: its worker crashed. */
  | { kind: "lost"; token: number };

/** One task: the page itself, or one of its steps. */
export type TaskTimeline = { taskId: string; step: TaskKind; leases: readonly Lease[] };

export type Timeline = {
  url: string;
  job: KnownJob;
  requestId: string | undefined;
  /** Sorted by the time of the first lease. */
  tasks: readonly TaskTimeline[];
  /** The state in the broker; undefined if the broker no longer has the task. */
  state: Explanation["tasks"][number]["state"] | undefined;
  /** Why the page is waiting; empty after it has ended. */
  waits: readonly string[];
  /** False for jobs that store no pages. Their attempts are not recorded either. */
  isKept: boolean;
};

export async function readTimeline(
  { frontier, store, visibility }: Pick<TraceDeps, "frontier" | "store" | "visibility">,
  job: KnownJob,
  url: string,
): Promise<Timeline> {
  const target: TaskQuery = { jobId: job.id, url };
  const [pages, attempts] = await Promise.all([store.tracePages(target), store.traceAttempts(target)]);
  const urls = urlsOfPage(url, [...pages, ...attempts]);
  const explained = await Promise.all(urls.map((one) => frontier.explain({ url: one }, visibility)));
  const { requestId, keep } = job.spec;
  const { state, waits } = brokerState(job.id, explained);
  const isOpen = state !== undefined && state !== "dead" && state !== "ended";
  return {
    url,
    job,
    requestId,
    tasks: tasksOf(pages, attempts),
    state,
    waits: isOpen ? [...waits, ...(await stoppedCrawl(frontier, job))] : waits,
    isKept: keep.pages,
  };
}

/** The state of the first task that has not ended: the page itself, or one of its steps. */
function brokerState(jobId: string, explained: readonly Explanation[]): Pick<Timeline, "state" | "waits"> {
  const found = explained.filter(({ tasks }) => tasks.some((task) => task.jobId === jobId));
  const stateIn = ({ tasks }: Explanation) => tasks.find((task) => task.jobId === jobId)?.state;
  const open = found.find((one) => stateIn(one) !== "ended");
  const prefix = `in job ${jobId}: `;
  const reasons = open?.reasons.filter((reason) => reason.startsWith(prefix)) ?? [];
  return {
    state: open === undefined ? found[0] && stateIn(found[0]) : stateIn(open),
    waits: reasons.map((reason) => reason.slice(prefix.length)),
  };
}

/** Groups pages and attempts by task. */
export function tasksOf(pages: readonly TracedPage[], attempts: readonly AttemptWrite[]): TaskTimeline[] {
  const ids = new Set([...attempts, ...pages].map(({ taskId }) => taskId));
  const timelines = [...ids].map((taskId) =>
    taskTimeline(
      taskId,
      pages.filter((page) => page.taskId === taskId),
      attempts.filter((one) => one.taskId === taskId),
    ),
  );
  return timelines.sort((one, other) => firstAt(one) - firstAt(other));
}

function taskTimeline(taskId: string, pages: readonly TracedPage[], attempts: readonly AttemptWrite[]): TaskTimeline {
  const known: Lease[] = [
    ...attempts.map(({ token, outcome, because, status, detail, run }) => {
      const optional = { ...(status === undefined ? {} : { status }), ...(detail === undefined ? {} : { detail }) };
      return { kind: "attempt" as const, token, outcome, because, ...optional, ...run };
    }),
    ...pages.map((page) => ({ kind: "page" as const, token: page.token, page, ...page.run })),
  ];
  const step = [...attempts, ...pages].find(({ run }) => run !== undefined)?.run?.step ?? "fetch";
  return { taskId, step, leases: withLost(known) };
}

/**
 * Adds the leases without a recorded end. Tokens number the leases of a task, so a missing token is a lease whose
 * worker crashed.
 */
function withLost(known: readonly Lease[]): Lease[] {
  const last = Math.max(0, ...known.map(({ token }) => token));
  const missing = Array.from({ length: last }, (_, nth) => nth + 1).filter((token) =>
    known.every((lease) => lease.token !== token),
  );
  const lost = missing.map((token) => ({ kind: "lost" as const, token }));
  return [...known, ...lost].sort((one, other) => one.token - other.token);
}

/**
 * True if this is the first lease after a replay. Replays are not recorded. They show as a lease with attempt 1 after a
 * permanent failure. If the broker refused a late failure, the task is leased again with a higher attempt number.
 */
export function isReplay(before: Lease | undefined, lease: Lease): boolean {
  if (before?.kind !== "attempt" || before.outcome !== "dead") return false;
  return lease.kind === "lost" || (lease.attempt ?? 1) === 1;
}

/** Counts the replays of a page's tasks that were followed by a lease. */
export function countReplays(tasks: readonly TaskTimeline[]): number {
  return tasks
    .flatMap(({ leases }) => leases.map((lease, nth) => isReplay(leases[nth - 1], lease)))
    .filter((isOne) => isOne).length;
}

/** The time of the first lease of a task. If it is not known, a very late time, so that the task comes last. */
function firstAt({ leases }: TaskTimeline): number {
  return Math.min(
    Number.MAX_SAFE_INTEGER,
    ...leases.flatMap((lease) => (lease.kind === "lost" ? [] : (lease.leasedAt ?? []))),
  );
}
