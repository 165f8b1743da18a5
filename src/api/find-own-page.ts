import { TrawlError } from "../errors.ts";
import type { StoredPage } from "../store/store.ts";
import { type ApiDeps, isOwn } from "./api-deps.ts";
import type { Caller } from "./route.ts";

/** A page belongs to its job, and that to a tenant. Throws NOT_FOUND. */
export async function findOwnPage({ store, catalogue }: ApiDeps, caller: Caller, id: number): Promise<StoredPage> {
  const page = await store.findPage(id);
  const job = page && (await catalogue.lookUp(page.jobId));
  // Pages may outlive a broker, and whoever sees everything sees these; not those of a job that was deleted.
  const isSeen = job === undefined ? caller.tenant === undefined : job !== "deleted" && isOwn(job, caller);
  if (page !== undefined && isSeen) return page;
  throw pageMissing(`there is no page ${id}; it may have been fetched anew, under another id`);
}

/** What was kept of it. Throws NOT_FOUND where nothing was, or it is not where it was put any more. */
export async function keptPart(
  { bodies }: ApiDeps,
  page: StoredPage,
  { name, ref, setting }: { name: string; ref: string | undefined; setting: string },
): Promise<Buffer> {
  if (ref === undefined)
    throw pageMissing(`no ${name} of page ${page.id} was kept; a job keeps them that has ${setting}`);
  const bytes = await bodies.get(ref);
  if (bytes !== undefined) return bytes;
  throw pageMissing(`the ${name} of page ${page.id} is not where bodies are kept any more`);
}

function pageMissing(message: string): TrawlError {
  return new TrawlError("NOT_FOUND", { op: "api.pages", message });
}
