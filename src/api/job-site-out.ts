/** How a job stands at a site, as the API answers and as `--json` prints it. Apart from the schemas, as job-out.ts is. */
import { WHY_A_SITE_RESTS } from "../domain/backoff.ts";
import type { JobSiteView, JobView } from "../frontier/frontier-admin.ts";
import type { JobSiteOut } from "./wire-types.ts";

export function jobSiteOut(view: JobSiteView, job: Pick<JobView, "state">, now: number): JobSiteOut {
  const { site, waiting, inFlight, dead, tally, lastPageAt } = view;
  const blockedUntil = view.blockedUntil > now ? view.blockedUntil : undefined;
  return {
    ...{ site, waiting, inFlight, dead, ...tally },
    lastPageAt: lastPageAt === undefined ? null : new Date(lastPageAt).toISOString(),
    blockedUntil: blockedUntil === undefined ? null : new Date(blockedUntil).toISOString(),
    why: whyOf(job, blockedUntil),
  };
}

/** What holds it up for longer than its rate does. */
function whyOf({ state }: Pick<JobView, "state">, blockedUntil: number | undefined): string | null {
  if (state === "paused") return "the job is paused";
  return blockedUntil === undefined ? null : `the site rests: ${WHY_A_SITE_RESTS}`;
}
