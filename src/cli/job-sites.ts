/** A job's sites with the most to do, for people who look at the job. */
import type { JobOut, JobSiteOut } from "../api/wire-types.ts";
import { formatBytes, formatCount } from "../domain/counted.ts";
import { formatDuration } from "../domain/duration.ts";
import type { ControlPlane } from "./plane/control-plane.ts";
import { table } from "./terminal.ts";

export type TopSites = { sites: readonly JobSiteOut[]; seen: number; isAll: boolean };

/** Sites are listed by name: of a job with more than these, the busiest of the first so many are shown. */
const LOOKED_AT = 500;
const SHOWN = 5;

/** Those with the most waiting first; where nothing waits, with the most pages. */
export async function findTopSites(plane: Pick<ControlPlane, "listJobSites">, job: JobOut): Promise<TopSites> {
  const found = await plane.listJobSites(job, LOOKED_AT);
  const busy = ({ waiting, inFlight }: JobSiteOut) => waiting + inFlight;
  const top = [...found].sort(
    (one, other) => busy(other) - busy(one) || other.pages - one.pages || (one.site < other.site ? -1 : 1),
  );
  return { sites: top.slice(0, SHOWN), seen: found.length, isAll: found.length < LOOKED_AT };
}

export function topSitesText({ sites, seen, isAll }: TopSites, now: number, width: number): string {
  if (sites.length === 0) return "";
  const rows = sites.map(({ site, waiting, inFlight, pages, records, bytes, dead, blockedUntil }) => [
    formatCount(waiting),
    formatCount(inFlight),
    formatCount(pages),
    formatCount(records),
    formatBytes(bytes),
    formatCount(dead),
    blockedUntil === null ? site : `${site} (rests ${formatDuration(Date.parse(blockedUntil) - now)})`,
  ]);
  const of = isAll ? formatCount(seen) : `the first ${formatCount(seen)}`;
  const heading = ["WAITING", "IN FLIGHT", "PAGES", "RECORDS", "BYTES", "FAILED", "SITE"];
  const title = seen > sites.length ? `\nits busiest sites, of ${of}\n` : "\nits sites\n";
  return title + table([heading, ...rows], { right: [0, 1, 2, 3, 4, 5], width });
}
