/** What somebody wants to hear the story of: a URL, a job, a request or a task, whichever the word turns out to be. */
import type { Trawl } from "../../compose.ts";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import { pageUrlOf } from "../../domain/step-url.ts";
import { TrawlError } from "../../errors.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import type { JobSpec } from "../../submit/job-spec.ts";

export type Traced =
  | { kind: "pages"; pages: readonly { job: JobView; url: string }[] }
  | { kind: "jobs"; jobs: readonly JobView[] };

type Parts = Pick<Trawl, "frontier" | "catalogue" | "store">;

/** Jobs whose request is looked at, newest first, a page at a time: they have no index by it, and few ask. */
const JOBS_MOST = 10_000;
const JOBS_PAGE = 500;

/** Throws NOT_FOUND where nobody knows it. */
export async function findTraced(parts: Parts, what: string, jobId: string | undefined): Promise<Traced> {
  const { catalogue } = parts;
  const url = /^https?:\/\//i.test(what) ? canonicalUrl(what) : undefined;
  if (url !== undefined) return ofUrl(parts, url, jobId);
  const job = await catalogue.find(what);
  if (job !== undefined) return ofJobs([job]);
  const jobs = await jobsOfRequest(catalogue, what);
  if (jobs.length > 0) return ofJobs(jobs);
  const pages = await pagesOfTask(parts, what);
  if (pages.length > 0) return { kind: "pages", pages };
  throw new TrawlError("NOT_FOUND", {
    op: "cli.trace",
    message: `${JSON.stringify(what)} is no job, request or tried task of this broker and store; a task that nobody has tried yet is found by its URL`,
    detail: { what },
  });
}

async function ofUrl({ frontier, catalogue }: Parts, url: string, jobId: string | undefined): Promise<Traced> {
  const { tasks } = await frontier.explain({ url });
  const ids = jobId === undefined ? tasks.map((task) => task.jobId) : [jobId];
  const jobs = await Promise.all([...new Set(ids)].map((id) => catalogue.find(id)));
  const pages = jobs.flatMap((job) => (job === undefined ? [] : [{ job, url }]));
  if (pages.length > 0) return { kind: "pages", pages };
  throw new TrawlError("NOT_FOUND", {
    op: "cli.trace",
    message:
      jobId === undefined
        ? `no job of this broker has seen ${url}; look for its job with: trawl jobs`
        : `this broker has no job ${jobId}; list them with: trawl jobs`,
    detail: { url },
  });
}

/** A job of one URL that follows nothing is that URL's story. */
function ofJobs(jobs: readonly JobView[]): Traced {
  const [job] = jobs;
  if (job === undefined || jobs.length > 1) return { kind: "jobs", jobs };
  const { urls = [], follow, spider } = job.spec as Partial<JobSpec>;
  const url = urls[0] === undefined ? undefined : canonicalUrl(urls[0]);
  const isSingle = job.counts.submitted === 1 && follow === undefined && spider === undefined;
  return isSingle && url !== undefined ? { kind: "pages", pages: [{ job, url }] } : { kind: "jobs", jobs };
}

async function jobsOfRequest(catalogue: Trawl["catalogue"], requestId: string): Promise<JobView[]> {
  const found: JobView[] = [];
  let before: { createdAt: number } | undefined;
  for (let seen = 0; seen < JOBS_MOST; seen += JOBS_PAGE) {
    const jobs = await catalogue.list(JOBS_PAGE, before);
    found.push(...jobs.filter(({ spec }) => (spec as Partial<JobSpec>).requestId === requestId));
    const last = jobs.at(-1);
    if (last === undefined || jobs.length < JOBS_PAGE) break;
    before = { createdAt: last.createdAt };
  }
  return found;
}

async function pagesOfTask({ catalogue, store }: Parts, taskId: string): Promise<{ job: JobView; url: string }[]> {
  const [pages, tries] = await Promise.all([store.tracePages({ taskId }), store.traceTries({ taskId })]);
  const urls = new Map([...tries, ...pages].map(({ jobId, url }) => [jobId, pageUrlOf(url)]));
  const found = await Promise.all([...urls].map(async ([jobId, url]) => ({ job: await catalogue.find(jobId), url })));
  return found.flatMap(({ job, url }) => (job === undefined ? [] : [{ job, url }]));
}
