/**
 * Jobs, newest first: everybody's as the catalogue has them, a tenant's by the notes of whose they are. Those that have not
 * ended are found among such, however many have.
 */
import type { Catalogue, KnownJob } from "../retain/catalogue.ts";
import { MADE_WITHIN_MS } from "../store/job-owners.ts";
import { type ApiDeps, isOwn } from "./api-deps.ts";
import { countFromCursor, fromCursor, toCursor } from "./cursor.ts";
import { isFiltering, isOfOpen, type JobFilter, jobMatcher } from "./job-filter.ts";
import { ownerOf } from "./quota/quotas.ts";
import type { Caller } from "./route.ts";

type Listed = { jobs: readonly KnownJob[]; next: string | null };
type Listing = { limit: number; cursor?: string | undefined } & JobFilter;
type Deps = Pick<ApiDeps, "catalogue" | "store" | "clock">;
/** A job, if it is still there, and the cursor to go on from it. */
type Placed = { job: KnownJob | undefined; place: string };

/** Jobs that one request looks at where it looks for some: a tenant's are looked up one by one. */
const LOOK_MOST = { everybodys: 2_000, own: 500 };
const STEP = { everybodys: 500, own: 100 };

/** A page of no more than `limit`; fewer where some have gone, or where not enough are found among so many. Throws BAD_REQUEST. */
export async function listJobs(deps: Deps, caller: Caller, { limit, cursor, ...filter }: Listing): Promise<Listed> {
  const { list, listOpen } = deps.catalogue;
  if (isOfOpen(filter)) {
    return wanted(inOrder(listOpen, caller, STEP.everybodys, cursor), filter, { limit, most: LOOK_MOST.everybodys });
  }
  const owner = caller.tenant === undefined ? undefined : ownerOf(caller);
  const whose = owner === undefined ? "everybodys" : "own";
  const isFiltered = isFiltering(filter);
  const step = isFiltered ? STEP[whose] : limit;
  const most = isFiltered ? LOOK_MOST[whose] : limit;
  const placed = owner === undefined ? inOrder(list, caller, step, cursor) : own(deps, { owner, caller }, step, cursor);
  return wanted(placed, filter, { limit, most });
}

/** Those that have not ended. `next` is null unless there are more. */
export function listOpenJobs({ catalogue }: Pick<Deps, "catalogue">, caller: Caller, limit: number): Promise<Listed> {
  const placed = inOrder(catalogue.listOpen, caller, caller.tenant === undefined ? limit : STEP.everybodys, undefined);
  return wanted(placed, {}, { limit, most: LOOK_MOST.everybodys });
}

async function wanted(
  placed: AsyncGenerator<Placed>,
  filter: JobFilter,
  { limit, most }: { limit: number; most: number },
): Promise<Listed> {
  const isWanted = jobMatcher(filter);
  const jobs: KnownJob[] = [];
  let looked = 0;
  for await (const { job, place } of placed) {
    looked += 1;
    if (job !== undefined && isWanted(job)) jobs.push(job);
    if (jobs.length >= limit || looked >= most) return { jobs, next: place };
  }
  return { jobs, next: null };
}

async function* inOrder(
  list: Catalogue["list"],
  caller: Caller,
  step: number,
  cursor: string | undefined,
): AsyncGenerator<Placed> {
  let before = cursor === undefined ? undefined : { createdAt: Number(fromCursor(cursor, ["createdAt"]).createdAt) };
  for (;;) {
    const jobs = await list(step, before);
    for (const job of jobs) {
      yield { job: isOwn(job, caller) ? job : undefined, place: toCursor({ createdAt: job.createdAt }) };
    }
    before = jobs.at(-1);
    if (jobs.length < step) return;
  }
}

async function* own(
  { store, catalogue, clock }: Deps,
  { owner, caller }: { owner: string; caller: Caller },
  step: number,
  cursor: string | undefined,
): AsyncGenerator<Placed> {
  let beforeN = cursor === undefined ? undefined : countFromCursor(cursor, "n");
  for (;;) {
    const rows = await store.owners.list(owner, step, beforeN);
    const found = await Promise.all(rows.map(({ jobId }) => catalogue.find(jobId)));
    const gone = rows.filter(({ notedAt }, nth) => found[nth] === undefined && clock.now() - notedAt > MADE_WITHIN_MS);
    if (gone.length > 0) await store.owners.forget(gone.map(({ jobId }) => jobId));
    for (const [nth, { n }] of rows.entries()) {
      const job = found[nth];
      yield { job: job !== undefined && isOwn(job, caller) ? job : undefined, place: toCursor({ n }) };
    }
    beforeN = rows.at(-1)?.n;
    if (rows.length < step) return;
  }
}
