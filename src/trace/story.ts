/** How one page of one job went, put together from what workers left in the store and what the broker knows now. */
import { urlsOfPage } from "../domain/step-url.ts";
import type { TaskKind } from "../domain/task.ts";
import type { Explanation } from "../frontier/frontier-admin.ts";
import type { KnownJob } from "../retain/catalogue.ts";
import type { Run, Sought, TracedPage, TryFate, TryWrite } from "../store/store.ts";
import type { JobSpec } from "../submit/job-spec.ts";
import type { TraceDeps } from "./find-traced.ts";

export type Lease =
  | ({ kind: "try"; token: number; fate: TryFate; because: string; status?: number; detail?: string } & Run)
  | ({ kind: "page"; token: number; page: TracedPage } & Partial<Run>)
  /** Granted, and nothing was ever heard of it. */
  | { kind: "lost"; token: number };

/** One task: the page itself, or a step of it. */
export type TaskStory = { taskId: string; step: TaskKind; leases: readonly Lease[] };

export type Story = {
  url: string;
  job: KnownJob;
  requestId: string | undefined;
  /** In the order they were first leased. */
  tasks: readonly TaskStory[];
  /** How it stands in the broker; undefined where that no longer knows. */
  state: Explanation["tasks"][number]["state"] | undefined;
  /** Why it waits, in words; empty once it has ended. */
  waits: readonly string[];
  /** False for jobs that keep no pages: of those nothing is known but what the broker says. */
  isKept: boolean;
};

export async function storyOf(
  { frontier, store, hearing }: Pick<TraceDeps, "frontier" | "store" | "hearing">,
  job: KnownJob,
  url: string,
): Promise<Story> {
  const sought: Sought = { jobId: job.id, url };
  const [pages, tries] = await Promise.all([store.tracePages(sought), store.traceTries(sought)]);
  const urls = urlsOfPage(url, [...pages, ...tries]);
  const explained = await Promise.all(urls.map((one) => frontier.explain({ url: one }, hearing)));
  const spec = job.spec as Partial<JobSpec>;
  return {
    url,
    job,
    requestId: spec.requestId,
    tasks: tasksOf(pages, tries),
    ...standing(job.id, explained),
    isKept: spec.keep?.pages ?? true,
  };
}

/** Of a page and its steps, what is not over says how it stands. */
function standing(jobId: string, explained: readonly Explanation[]): Pick<Story, "state" | "waits"> {
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

/** All that is known of these tasks, by task. */
export function tasksOf(pages: readonly TracedPage[], tries: readonly TryWrite[]): TaskStory[] {
  const ids = new Set([...tries, ...pages].map(({ taskId }) => taskId));
  const stories = [...ids].map((taskId) =>
    taskStory(
      taskId,
      pages.filter((page) => page.taskId === taskId),
      tries.filter((one) => one.taskId === taskId),
    ),
  );
  return stories.sort((one, other) => firstAt(one) - firstAt(other));
}

function taskStory(taskId: string, pages: readonly TracedPage[], tries: readonly TryWrite[]): TaskStory {
  const known: Lease[] = [
    ...tries.map(({ token, fate, because, status, detail, run }) => {
      const told = { ...(status === undefined ? {} : { status }), ...(detail === undefined ? {} : { detail }) };
      return { kind: "try" as const, token, fate, because, ...told, ...run };
    }),
    ...pages.map((page) => ({ kind: "page" as const, token: page.token, page, ...page.run })),
  ];
  const step = [...tries, ...pages].find(({ run }) => run !== undefined)?.run?.step ?? "fetch";
  return { taskId, step, leases: withLost(known) };
}

/** Tokens count the leases of a task: what has none of its own told nothing, and its worker is gone. */
function withLost(known: readonly Lease[]): Lease[] {
  const last = Math.max(0, ...known.map(({ token }) => token));
  const missing = Array.from({ length: last }, (_, nth) => nth + 1).filter((token) =>
    known.every((lease) => lease.token !== token),
  );
  const lost = missing.map((token) => ({ kind: "lost" as const, token }));
  return [...known, ...lost].sort((one, other) => one.token - other.token);
}

/**
 * Whether this lease is of a replay. When that was is not kept; that it was shows: something had been given up on, and is
 * tried for the first time. One whose end came too late for the broker is tried again without that.
 */
export function isReplay(before: Lease | undefined, lease: Lease): boolean {
  if (before?.kind !== "try" || before.fate !== "dead") return false;
  return lease.kind === "lost" || (lease.attempt ?? 1) === 1;
}

/** How often something of a page was replayed and then leased again. */
export function countReplays(tasks: readonly TaskStory[]): number {
  return tasks
    .flatMap(({ leases }) => leases.map((lease, nth) => isReplay(leases[nth - 1], lease)))
    .filter((isOne) => isOne).length;
}

/** What nobody told the time of goes last. */
function firstAt({ leases }: TaskStory): number {
  return Math.min(
    Number.MAX_SAFE_INTEGER,
    ...leases.flatMap((lease) => (lease.kind === "lost" ? [] : (lease.leasedAt ?? []))),
  );
}
