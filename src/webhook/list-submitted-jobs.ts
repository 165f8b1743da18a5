import { toldJobId } from "../domain/webhook.ts";
import type { FrontierAdmin, JobView } from "../frontier/frontier-admin.ts";

/** Jobs of a listing that somebody submitted, newest first: those that deliver events are left out. */
export async function listSubmittedJobs(
  list: FrontierAdmin["listJobs"],
  limit: number,
  before?: { createdAt: number },
): Promise<readonly JobView[]> {
  const found: JobView[] = [];
  for (let place = before; ; ) {
    const page = await (place === undefined ? list(limit) : list(limit, place));
    found.push(...page.filter(({ id }) => toldJobId(id) === undefined));
    const last = page.at(-1);
    if (last === undefined || page.length < limit || found.length >= limit) return found.slice(0, limit);
    place = { createdAt: last.createdAt };
  }
}
