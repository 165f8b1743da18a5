/** The counters of a job at each of its sites. */
import type { BackoffCause } from "../../domain/backoff.ts";
import { type Database, prepareAll, type Row } from "../../runtime/sqlite.ts";
import { MAX_BATCH } from "../frontier.ts";
import type { JobSiteView } from "../frontier-admin.ts";

/** Lists the sites of a job, by name. */
type ListJobSites = (jobId: string, limit: number, after: string) => JobSiteView[];

export function createListJobSites(db: Database): ListJobSites {
  const sql = prepareAll<"listJobSites">(db, new URL("./sql/job-sites.sql", import.meta.url));
  return (jobId, limit, after) => sql.listJobSites.all(jobId, after, Math.min(limit, MAX_BATCH)).map(toJobSite);
}

function toJobSite(row: Row): JobSiteView {
  const number = (name: string) => Number(row[name]);
  return {
    site: String(row.site),
    waiting: number("waiting"),
    inFlight: number("in_flight"),
    done: number("done"),
    dead: number("dead"),
    tally: { pages: number("pages"), records: number("records"), invalid: number("invalid"), bytes: number("bytes") },
    lastPageAt: row.last_page_at === null ? undefined : number("last_page_at"),
    blockedUntil: number("blocked_until"),
    backoffCause: (row.backoff_cause as BackoffCause | null) ?? undefined,
  };
}
