/** Jobs, newest first: everybody's as the catalogue has them, a tenant's by the notes of whose they are. */
import type { KnownJob } from "../retain/catalogue.ts";
import { MADE_WITHIN_MS } from "../store/job-owners.ts";
import { type ApiDeps, isOwn } from "./api-deps.ts";
import { countFromCursor, fromCursor, toCursor } from "./cursor.ts";
import { ownerOf } from "./quota/quotas.ts";
import type { Caller } from "./route.ts";

type Listed = { jobs: readonly KnownJob[]; next: string | null };
type Listing = { limit: number; cursor?: string | undefined };
type Deps = Pick<ApiDeps, "catalogue" | "store" | "clock">;

/** A page of no more than `limit`; fewer where some have gone since they were noted. Throws BAD_REQUEST. */
export async function listJobs(deps: Deps, caller: Caller, { limit, cursor }: Listing): Promise<Listed> {
  const owner = caller.tenant === undefined ? undefined : ownerOf(caller);
  if (owner !== undefined) return listOwn(deps, owner, caller, { limit, cursor });
  const before = cursor === undefined ? undefined : { createdAt: Number(fromCursor(cursor, ["createdAt"]).createdAt) };
  const jobs = await deps.catalogue.list(limit, before);
  const last = jobs.length < limit ? undefined : jobs.at(-1);
  return { jobs, next: last === undefined ? null : toCursor({ createdAt: last.createdAt }) };
}

async function listOwn(
  { store, catalogue, clock }: Deps,
  owner: string,
  caller: Caller,
  { limit, cursor }: Listing,
): Promise<Listed> {
  const beforeN = cursor === undefined ? undefined : countFromCursor(cursor, "n");
  const rows = await store.owners.list(owner, limit, beforeN);
  const found = await Promise.all(rows.map(({ jobId }) => catalogue.find(jobId)));
  const gone = rows.filter(({ notedAt }, nth) => found[nth] === undefined && clock.now() - notedAt > MADE_WITHIN_MS);
  if (gone.length > 0) await store.owners.forget(gone.map(({ jobId }) => jobId));
  const jobs = found.filter((job) => job !== undefined).filter((job) => isOwn(job, caller));
  const last = rows.length < limit ? undefined : rows.at(-1);
  return { jobs, next: last === undefined ? null : toCursor({ n: last.n }) };
}
