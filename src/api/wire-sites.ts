/** What the API says of one site: whose word it follows, whether it rests, what its robots.txt asks, who waits there. */
import { z } from "zod";
import { JOB_MOVES, type JobState } from "../domain/job.ts";
import { isOffline } from "../domain/offline-site.ts";
import { formatRate } from "../domain/rate.ts";
import { parseRobots, rulesFor, sitemapsOf } from "../domain/robots.ts";
import type { RobotsFile } from "../frontier/frontier.ts";
import type { SiteDetail, SiteJobView } from "../frontier/frontier-admin.ts";
import { siteOut, siteSchemaOut } from "./wire-fleet.ts";

const count = z.int().min(0);
const instant = z.iso.datetime();

const allowance = { rate: z.string(), burst: count, perSite: count };

export const robotsSchemaOut = z.strictObject({
  kind: z
    .enum(["file", "absent", "unreachable"])
    .describe("`absent` allows everything, `unreachable` nothing until it can be had."),
  fetchedAt: instant,
  freshUntil: instant.describe("It is asked for again with the first request after this."),
  allows: z
    .enum(["everything", "something", "nothing"])
    .describe("What it leaves this server's user agent. `nothing`: not even the front page, and no path is excepted."),
  crawlDelayMs: z.number().min(0).nullable().describe("What it asks for between two requests; null: nothing."),
  sitemaps: z.array(z.string()),
  text: z.string().describe("The file, cut after 20,000 characters."),
});

export const siteDetailSchemaOut = siteSchemaOut.extend({
  setBy: z
    .enum(["operator", "robots", "jobs"])
    .describe(
      "Whose word the rate is: the operator's, the crawl-delay of its robots.txt, or the strictest of its jobs.",
    ),
  operator: z.strictObject(allowance).nullable().describe("The operator's word; null: there is none."),
  incidents: count.describe(
    "How often in a row it has made us rest: by 429 or 503, or by a robots.txt that could not be had.",
  ),
  circuit: z
    .enum(["closed", "open", "half-open"])
    .describe("`open`: it rests, nothing is sent. `half-open`: the rest is over, and the next answer decides."),
  isAskingRobots: z.boolean().describe("Its robots.txt is being fetched: everything else waits for it."),
  robots: robotsSchemaOut.nullable().describe("As last seen; null: no job here has asked for it."),
  jobs: z
    .array(
      z.strictObject({
        jobId: z.string(),
        name: z.string(),
        state: z.enum(Object.keys(JOB_MOVES) as [JobState, ...JobState[]]),
        waiting: count,
        inFlight: count,
        ...allowance,
        isStrictest: z.boolean().describe("Its rate is the one that the site gets."),
      }),
    )
    .describe("Jobs with something there, the most first: 50 at most, of the 500 newest."),
});

export type SiteDetailOut = z.output<typeof siteDetailSchemaOut>;

/** A robots.txt may have 500 KB; nobody reads more of it than this. */
const TEXT_MOST = 20_000;
const SITEMAPS_MOST = 20;
/** Where none of these may be fetched and no path is allowed by name, nothing may. */
const PROBES = ["/", "/any/page.html?of=it"];

export function siteDetailOut(
  site: SiteDetail,
  robots: RobotsFile | undefined,
  { now, agent }: { now: number; agent: string },
): SiteDetailOut {
  const { operator, incidents, isAskingRobots, jobs } = site;
  const setBy = whoSets(site);
  return {
    ...siteOut(site, now),
    setBy,
    operator: operator === undefined ? null : allowanceOut(operator),
    incidents,
    circuit: circuitOf(site, now),
    isAskingRobots,
    robots: robots === undefined ? null : robotsOut(robots, agent),
    jobs: jobs.map((job) => siteJobOut(job, setBy === "jobs" ? site.policy.intervalMs : undefined)),
  };
}

function whoSets({ site, operator, crawlDelayMs, policy }: SiteDetail): SiteDetailOut["setBy"] {
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
  // What a paused job asks for does not count.
  const isStrictest = job.state === "running" && policy.intervalMs === strictestMs;
  return { ...job, ...allowanceOut(policy), isStrictest };
}

function robotsOut(file: RobotsFile, agent: string): z.output<typeof robotsSchemaOut> {
  const { kind, text, fetchedAt, freshUntil } = file;
  const parsed = parseRobots(text);
  const { allowsAll, allows, crawlDelaySeconds } = rulesFor(parsed, agent);
  const left = kind === "unreachable" ? "nothing" : allowsAll ? "everything" : "something";
  const isShut = left === "something" && !PROBES.some(allows) && !/^\s*allow\s*:\s*\S/im.test(text);
  return {
    kind,
    fetchedAt: new Date(fetchedAt).toISOString(),
    freshUntil: new Date(freshUntil).toISOString(),
    allows: isShut ? "nothing" : left,
    crawlDelayMs: crawlDelaySeconds === undefined ? null : crawlDelaySeconds * 1000,
    sitemaps: sitemapsOf(parsed).slice(0, SITEMAPS_MOST),
    text: text.slice(0, TEXT_MOST),
  };
}
