/** The busiest sites of a job, as shown by `trawl job`. */
import type { JobOut, JobSiteOut } from "../client/wire-types.ts";
import { formatDuration } from "../domain/duration.ts";
import { formatBytes, formatCount } from "../domain/format-number.ts";
import type { ControlPlane } from "./plane/control-plane.ts";
import { table } from "./terminal.ts";

type TopSites = { sites: readonly JobSiteOut[]; seen: number; isAll: boolean };

/** At most this many sites are read, in order of name. If a job has more sites, the others are not compared. */
const MAX_SITES = 500;
const SHOWN = 5;

/** The busiest sites of a job, sorted by waiting and running URLs, then by pages. */
export async function findTopSites(plane: Pick<ControlPlane, "listJobSites">, job: JobOut): Promise<TopSites> {
  const found = await plane.listJobSites(job, MAX_SITES);
  const busy = ({ waiting, inFlight }: JobSiteOut) => waiting + inFlight;
  const top = [...found].sort(
    (one, other) => busy(other) - busy(one) || other.pages - one.pages || (one.site < other.site ? -1 : 1),
  );
  return { sites: top.slice(0, SHOWN), seen: found.length, isAll: found.length < MAX_SITES };
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
    blockedUntil === null ? site : `${site} (paused for ${formatDuration(Date.parse(blockedUntil) - now)})`,
  ]);
  const of = isAll ? formatCount(seen) : `the first ${formatCount(seen)}`;
  const heading = ["WAITING", "IN FLIGHT", "PAGES", "RECORDS", "BYTES", "FAILED", "SITE"];
  const title = seen > sites.length ? `\nbusiest sites of ${of}\n` : "\nsites\n";
  return title + table([heading, ...rows], { right: [0, 1, 2, 3, 4, 5], width });
}
