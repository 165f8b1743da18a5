/**
 * Lists jobs, newest first, with a filter. A caller without a tenant reads the catalogue. A caller with a tenant reads
 * the owner rows of its tenant. Jobs that have not ended are read from the list of open jobs, so the cost does not
 * depend on the number of ended jobs.
 */
import { hasEnded, type JobState } from "../domain/job.ts";
import type { JobSpec } from "../domain/job-spec.ts";
import { TrawlError } from "../errors.ts";
import type { JobView } from "../frontier/frontier-admin.ts";
import type { Clock } from "../runtime/clock.ts";
import { CREATED_WITHIN_MS } from "../store/job-owners.ts";
import type { ControlStores } from "../store/store.ts";
import { type Caller, isOwn } from "./caller.ts";
import type { Catalogue, KnownJob } from "./catalogue.ts";
import { ownerOf } from "./quota/quotas.ts";

export const WRONG_CURSOR =
  "query.cursor: does not belong to this listing; use `next` of its last response, or leave it out";

/** `q`: words in the name, an id or a URL of a job. */
export type JobFilter = { state?: JobState | undefined; q?: string | undefined };

export function isFiltered(filter: JobFilter): boolean {
  return filter.state !== undefined || wordsOf(filter).length > 0;
}

/** Where a listing continues. */
export type JobPosition = { createdAt: number } | { n: number };
/** `next`: undefined after the last job. */
type JobPage = { jobs: readonly KnownJob[]; next: JobPosition | undefined };

type Deps = { catalogue: Catalogue; store: Pick<ControlStores, "owners">; clock: Clock };
/** `job` is undefined if the job at this position no longer exists or belongs to another tenant. */
type JobAt = { job: KnownJob | undefined; position: JobPosition };

/** The maximum number of jobs that one call searches. It is lower for a tenant, whose jobs are read by id. */
const MAX_SEARCH = { all: 2_000, own: 500 };
const STEP = { all: 500, own: 100 };

/** Returns at most `limit` jobs; fewer if some no longer exist, or if the search limit is reached first. */
export async function listJobs(
  deps: Deps,
  caller: Caller,
  { limit, after, ...filter }: { limit: number; after?: JobPosition | undefined } & JobFilter,
): Promise<JobPage> {
  const { list, listOpen } = deps.catalogue;
  if (filter.state !== undefined && !hasEnded(filter.state)) {
    return matching(inOrder(listOpen, caller, STEP.all, after), filter, { limit, max: MAX_SEARCH.all });
  }
  const owner = caller.tenant === undefined ? undefined : ownerOf(caller);
  const whose = owner === undefined ? "all" : "own";
  const step = isFiltered(filter) ? STEP[whose] : limit;
  const max = isFiltered(filter) ? MAX_SEARCH[whose] : limit;
  const jobs = owner === undefined ? inOrder(list, caller, step, after) : ofOwner(deps, { owner, caller }, step, after);
  return matching(jobs, filter, { limit, max });
}

/** Jobs that have not ended. */
export function listOpenJobs({ catalogue }: Pick<Deps, "catalogue">, caller: Caller, limit: number): Promise<JobPage> {
  const jobs = inOrder(catalogue.listOpen, caller, caller.tenant === undefined ? limit : STEP.all, undefined);
  return matching(jobs, {}, { limit, max: MAX_SEARCH.all });
}

async function matching(
  all: AsyncGenerator<JobAt>,
  filter: JobFilter,
  { limit, max }: { limit: number; max: number },
): Promise<JobPage> {
  const isMatch = jobMatcher(filter);
  const jobs: KnownJob[] = [];
  let read = 0;
  for await (const { job, position } of all) {
    read += 1;
    if (job !== undefined && isMatch(job)) jobs.push(job);
    if (jobs.length >= limit || read >= max) return { jobs, next: position };
  }
  return { jobs, next: undefined };
}

async function* inOrder(
  list: Catalogue["list"],
  caller: Caller,
  step: number,
  after: JobPosition | undefined,
): AsyncGenerator<JobAt> {
  if (after !== undefined && !("createdAt" in after)) throw wrongPosition();
  let before: { createdAt: number } | undefined = after;
  for (;;) {
    const jobs = await list(step, before);
    for (const job of jobs) {
      yield { job: isOwn(job, caller) ? job : undefined, position: { createdAt: job.createdAt } };
    }
    before = jobs.at(-1);
    if (jobs.length < step) return;
  }
}

async function* ofOwner(
  { store, catalogue, clock }: Deps,
  { owner, caller }: { owner: string; caller: Caller },
  step: number,
  after: JobPosition | undefined,
): AsyncGenerator<JobAt> {
  if (after !== undefined && !("n" in after)) throw wrongPosition();
  let beforeN = after?.n;
  for (;;) {
    const rows = await store.owners.list(owner, step, beforeN);
    const found = new Map(
      (await catalogue.findAll(rows.map(({ jobId }) => jobId))).map((job) => [job.id, job] as const),
    );
    const gone = rows.filter(({ jobId, addedAt }) => !found.has(jobId) && clock.now() - addedAt > CREATED_WITHIN_MS);
    if (gone.length > 0) await store.owners.remove(gone.map(({ jobId }) => jobId));
    for (const { n, jobId } of rows) {
      const job = found.get(jobId);
      yield { job: job !== undefined && isOwn(job, caller) ? job : undefined, position: { n } };
    }
    beforeN = rows.at(-1)?.n;
    if (rows.length < step) return;
  }
}

/**
 * All words must occur, in any order; case is ignored. A long list of URLs is not stored with the job, so it is not
 * searched.
 */
function jobMatcher(filter: JobFilter): (job: JobView) => boolean {
  const { state } = filter;
  const words = wordsOf(filter);
  return (job) => {
    if (state !== undefined && job.state !== state) return false;
    if (words.length === 0) return true;
    const { urls = [], requestId = "" } = job.spec as Partial<JobSpec>;
    const text = [job.name, job.id, requestId, ...urls].join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

/** The error for a position of another listing, such as one with another filter. */
function wrongPosition(): TrawlError {
  return new TrawlError("BAD_REQUEST", { op: "control.listJobs", message: WRONG_CURSOR });
}

function wordsOf({ q = "" }: JobFilter): string[] {
  return q.toLowerCase().split(/\s+/).filter(Boolean);
}
