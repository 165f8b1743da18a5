/** Schemas of sites: their current rate, and the details of one site. */
import { z } from "zod";
import { type SiteOut, siteOut } from "../../control/views/fleet.ts";
import { JOB_MOVES, type JobState } from "../../domain/job.ts";
import { isOffline } from "../../domain/offline-site.ts";
import { formatRate } from "../../domain/rate.ts";
import { parseRobots, rulesFor, sitemapsOf } from "../../domain/robots.ts";
import type { RobotsFile } from "../../frontier/frontier.ts";
import type { SiteDetail, SiteJobView } from "../../frontier/frontier-admin.ts";

const count = z.int().min(0);
const instant = z.iso.datetime();

const allowance = { rate: z.string(), burst: count, perSite: count };

export const siteSchemaOut = z.strictObject({
  site: z.string(),
  rate: z
    .string()
    .describe(
      "The current rate: the strictest of the site's jobs and robots.txt, or the rate that an operator has set.",
    ),
  burst: count,
  perSite: count,
  inFlight: count.describe("Requests in progress."),
  waiting: count.describe("URLs waiting for this site."),
  readyAt: instant.nullable().describe("When the next request may be sent. null: now."),
  blockedUntil: instant.nullable().describe("The end of the site's backoff. null: no backoff."),
  crawlDelayMs: z.number().min(0),
  rateShare: z
    .number()
    .min(0)
    .max(1)
    .describe("The share of the rate that is used. Below 1: the site answers with errors or slowly."),
  rules: z.array(z.string()).describe("The rules that apply because of the site's responses, as sentences."),
}) satisfies z.ZodType<SiteOut>;

/** The limits that an operator has set for a site. */
export const sitePolicySchemaOut = z.strictObject({
  site: z.string(),
  rate: z.string(),
  burst: z.int(),
  perSite: z.int(),
});
export type SitePolicyOut = z.output<typeof sitePolicySchemaOut>;

const robotsSchemaOut = z.strictObject({
  kind: z
    .enum(["file", "absent", "unreachable"])
    .describe("`absent` allows everything. `unreachable` allows nothing until the file can be fetched."),
  fetchedAt: instant,
  freshUntil: instant.describe("The first request after this time fetches the file again."),
  allows: z
    .enum(["everything", "something", "nothing"])
    .describe("What the file allows for this server's user agent. `nothing`: it allows no path and has no Allow line."),
  crawlDelayMs: z.number().min(0).nullable().describe("The requested delay between two requests. null: none."),
  sitemaps: z.array(z.string()),
  text: z.string().describe("The file, truncated to 20,000 characters."),
});

export const siteDetailSchemaOut = siteSchemaOut.extend({
  setBy: z
    .enum(["operator", "robots", "jobs"])
    .describe("Where the rate comes from: an operator, the Crawl-delay of robots.txt, or the strictest job."),
  operator: z.strictObject(allowance).nullable().describe("The limits that an operator has set. null: none."),
  incidents: count.describe(
    "Consecutive incidents that caused a backoff: a 429, a 503, or a robots.txt that could not be fetched.",
  ),
  circuit: z
    .enum(["closed", "open", "half-open"])
    .describe("`open`: no requests during the backoff. `half-open`: the next response closes or opens the circuit."),
  isFetchingRobots: z.boolean().describe("A worker is fetching robots.txt. All other requests wait for it."),
  robots: robotsSchemaOut.nullable().describe("The last known robots.txt. null: no job has requested it."),
  jobs: z
    .array(
      z.strictObject({
        jobId: z.string(),
        name: z.string(),
        state: z.enum(Object.keys(JOB_MOVES) as [JobState, ...JobState[]]),
        waiting: count,
        inFlight: count,
        ...allowance,
        isStrictest: z.boolean().describe("The site's rate is the rate of this job."),
      }),
    )
    .describe("At most 50 jobs with URLs at this site, of the 500 newest jobs. Jobs with the most URLs come first."),
});

export type SiteDetailOut = z.output<typeof siteDetailSchemaOut>;

/** The maximum length of `text`. A robots.txt may be 500 KB long. */
const MAX_TEXT = 20_000;
const MAX_SITEMAPS = 20;
/** If none of these paths may be fetched, and the file has no Allow line, it allows nothing. */
const PROBES = ["/", "/any/page.html?of=it"];

export function siteDetailOut(
  site: SiteDetail,
  robots: RobotsFile | undefined,
  { now, agent }: { now: number; agent: string },
): SiteDetailOut {
  const { operator, incidents, isFetchingRobots, jobs } = site;
  const setBy = rateSource(site);
  return {
    ...siteOut(site, now),
    setBy,
    operator: operator === undefined ? null : allowanceOut(operator),
    incidents,
    circuit: circuitOf(site, now),
    isFetchingRobots,
    robots: robots === undefined ? null : robotsOut(robots, agent),
    jobs: jobs.map((job) => siteJobOut(job, setBy === "jobs" ? site.policy.intervalMs : undefined)),
  };
}

function rateSource({ site, operator, crawlDelayMs, policy }: SiteDetail): SiteDetailOut["setBy"] {
  if (operator !== undefined) return "operator";
  return !isOffline(site) && crawlDelayMs > 0 && crawlDelayMs === policy.intervalMs ? "robots" : "jobs";
}

function circuitOf({ blockedUntil, incidents }: SiteDetail, now: number): SiteDetailOut["circuit"] {
  if (blockedUntil > now) return "open";
  return incidents > 0 ? "half-open" : "closed";
}

function allowanceOut({ intervalMs, burst, perSite }: SiteDetail["policy"]) {
  return { rate: formatRate(intervalMs), burst, perSite };
}

function siteJobOut({ policy, ...job }: SiteJobView, strictestMs: number | undefined): SiteDetailOut["jobs"][number] {
  // The policy of a paused job has no effect.
  const isStrictest = job.state === "running" && policy.intervalMs === strictestMs;
  return { ...job, ...allowanceOut(policy), isStrictest };
}

function robotsOut(file: RobotsFile, agent: string): z.output<typeof robotsSchemaOut> {
  const { kind, text, fetchedAt, freshUntil } = file;
  const parsed = parseRobots(text);
  const { allowsAll, allows, crawlDelaySeconds } = rulesFor(parsed, agent);
  const allowed = kind === "unreachable" ? "nothing" : allowsAll ? "everything" : "something";
  const isShut = allowed === "something" && !PROBES.some(allows) && !/^\s*allow\s*:\s*\S/im.test(text);
  return {
    kind,
    fetchedAt: new Date(fetchedAt).toISOString(),
    freshUntil: new Date(freshUntil).toISOString(),
    allows: isShut ? "nothing" : allowed,
    crawlDelayMs: crawlDelaySeconds === undefined ? null : crawlDelaySeconds * 1000,
    sitemaps: sitemapsOf(parsed).slice(0, MAX_SITEMAPS),
    text: text.slice(0, MAX_TEXT),
  };
}
