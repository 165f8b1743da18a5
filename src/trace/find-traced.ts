/** Finds the pages or jobs to trace: by URL, job id, request id or task id. */

import type { Catalogue, KnownJob } from "../control/catalogue.ts";
import { canonicalUrl } from "../domain/canonical-url.ts";
import { pageUrlOf, stepUrl } from "../domain/task-url.ts";
import { TrawlError } from "../errors.ts";
import type { FrontierAdmin, JobView, Visibility } from "../frontier/frontier-admin.ts";
import type { Store } from "../store/store.ts";
import { canonicalEntryUrl, isSitemapEntry } from "../submit/url-entry.ts";

/** `any` tries a URL, a job, a task and a request id, in this order. */
type TraceKind = "url" | "job" | "task" | "request" | "any";
export type TraceTarget = {
  kind: TraceKind;
  query: string;
  /** Restricts the trace to this job, if several jobs have the URL. */
  jobId?: string | undefined;
};

type Traced =
  | { kind: "pages"; pages: readonly { job: KnownJob; url: string }[] }
  | { kind: "jobs"; jobs: readonly KnownJob[] };

export type TraceDeps = {
  frontier: Pick<FrontierAdmin, "explain" | "listDead" | "listWorkers">;
  catalogue: Pick<Catalogue, "find">;
  /** Yields batches of jobs, the newest first. It may yield jobs that the caller may not see. */
  listJobs(): AsyncIterable<readonly KnownJob[]>;
  store: Pick<Store, "tracePages" | "traceAttempts" | "groupAttempts" | "slowestPages">;
  /** Whether the caller may see a job. Other jobs are treated as if they did not exist. */
  maySee(job: JobView): boolean;
  /** Whether the caller may see values that all jobs share, such as the names of workers. */
  visibility: Visibility;
};

/** A request id is searched in this many of the newest jobs. There is no index, because the search is rare. */
const MAX_JOBS = 1_000;

/** Finds what a query names. Throws NOT_FOUND, or BAD_URL for an invalid URL. */
export async function findTraced(deps: TraceDeps, { kind, query, jobId }: TraceTarget): Promise<Traced> {
  const isUrl = kind === "url" || (kind === "any" && /^https?:\/\//i.test(query));
  if (isUrl) return ofUrl(deps, getCanonical(query), jobId);
  if (kind === "job" || kind === "any") {
    const job = await findVisible(deps, query);
    if (job !== undefined) return ofJobs([job]);
  }
  if (kind === "task" || kind === "any") {
    const pages = await pagesOfTask(deps, query);
    if (pages.length > 0) return { kind: "pages", pages };
  }
  if (kind === "request" || kind === "any") {
    const jobs = await jobsOfRequest(deps, query);
    if (jobs.length > 0) return ofJobs(jobs);
  }
  throw new TrawlError("NOT_FOUND", {
    op: "trace.find",
    message: `no ${NAMES[kind]} matches ${JSON.stringify(query)}; a task without attempts can be found only by its URL`,
    detail: { what: query },
  });
}

const NAMES: Readonly<Record<TraceKind, string>> = {
  url: "URL",
  job: "job",
  task: "task with an attempt",
  request: "request id of the newest 1,000 jobs",
  any: "job, task or recent request id",
};

function getCanonical(text: string): string {
  const url = canonicalUrl(text);
  if (url !== undefined) return url;
  throw new TrawlError("BAD_URL", {
    op: "trace.find",
    message: `${JSON.stringify(text)} is not an absolute http(s) URL without credentials`,
  });
}

async function ofUrl(deps: TraceDeps, url: string, jobId: string | undefined): Promise<Traced> {
  // A URL may be a sitemap only, and no page.
  const explained = [url, stepUrl(url, "sitemap")].map((one) => deps.frontier.explain({ url: one }, deps.visibility));
  const tasks = (await Promise.all(explained)).flatMap((one) => one.tasks);
  const ids = jobId === undefined ? tasks.map((task) => task.jobId) : [jobId];
  const jobs = await Promise.all([...new Set(ids)].map((id) => findVisible(deps, id)));
  const pages = jobs.flatMap((job) => (job === undefined ? [] : [{ job, url }]));
  if (pages.length > 0) return { kind: "pages", pages };
  throw new TrawlError("NOT_FOUND", {
    op: "trace.find",
    message:
      jobId === undefined
        ? `no job has the URL ${url}; list jobs with: trawl jobs, or GET /v1/jobs`
        : `there is no job ${jobId}; list jobs with: trawl jobs, or GET /v1/jobs`,
    detail: { url },
  });
}

async function findVisible({ catalogue, maySee }: TraceDeps, jobId: string): Promise<KnownJob | undefined> {
  const job = await catalogue.find(jobId);
  return job !== undefined && maySee(job) ? job : undefined;
}

/** A job with one URL and without links to follow is shown as the timeline of that URL. */
function ofJobs(jobs: readonly KnownJob[]): Traced {
  const [job] = jobs;
  if (job === undefined || jobs.length > 1) return { kind: "jobs", jobs };
  const { urls, follow, spider } = job.spec;
  const url = urls[0] === undefined ? undefined : canonicalEntryUrl(urls[0]);
  const isSingle =
    job.counts.submitted === 1 && follow === undefined && spider === undefined && !urls.some(isSitemapEntry);
  return isSingle && url !== undefined ? { kind: "pages", pages: [{ job, url }] } : { kind: "jobs", jobs };
}

async function jobsOfRequest({ listJobs, maySee }: TraceDeps, requestId: string): Promise<KnownJob[]> {
  const found: KnownJob[] = [];
  let seen = 0;
  for await (const jobs of listJobs()) {
    found.push(...jobs.filter((job) => job.spec.requestId === requestId && maySee(job)));
    seen += jobs.length;
    if (seen >= MAX_JOBS) break;
  }
  return found;
}

const JOBS_PAGE = 200;

/** All jobs of a catalogue, newest first. */
export async function* jobsIn({ list }: Pick<Catalogue, "list">): AsyncGenerator<readonly KnownJob[], void> {
  let before: { createdAt: number } | undefined;
  for (;;) {
    const jobs = await list(JOBS_PAGE, before);
    yield jobs;
    const last = jobs.at(-1);
    if (last === undefined || jobs.length < JOBS_PAGE) return;
    before = { createdAt: last.createdAt };
  }
}

async function pagesOfTask(deps: TraceDeps, taskId: string): Promise<{ job: KnownJob; url: string }[]> {
  // Task ids are numbers.
  if (!/^[0-9]{1,16}$/.test(taskId)) return [];
  const { store } = deps;
  const [pages, attempts] = await Promise.all([store.tracePages({ taskId }), store.traceAttempts({ taskId })]);
  const urls = new Map([...attempts, ...pages].map(({ jobId, url }) => [jobId, pageUrlOf(url)]));
  const found = await Promise.all(
    [...urls].map(async ([jobId, url]) => ({ job: await findVisible(deps, jobId), url })),
  );
  return found.flatMap(({ job, url }) => (job === undefined ? [] : [{ job, url }]));
}
