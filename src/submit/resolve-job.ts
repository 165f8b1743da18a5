/** Parses a job as written, and resolves it: fills in defaults, routes and queues. */
import { hash, randomBytes } from "node:crypto";
import type { z } from "zod";
import type { Config } from "../config/schema.ts";
import { parseDurationMs } from "../domain/duration.ts";
import type { FollowSpec, JobSpec, RecrawlSpec } from "../domain/job-spec.ts";
import type { SitePolicy } from "../domain/politeness.ts";
import { regionalQueue } from "../domain/queue-name.ts";
import { parseRate } from "../domain/rate.ts";
import type { BodySettings } from "../domain/request.ts";
import { type JobRouting, type Routing, resolveRoutes } from "../domain/route.ts";
import { TrawlError } from "../errors.ts";
import { authFrom } from "./auth-schema.ts";
import { blocksFrom } from "./block-schema.ts";
import { browserFrom } from "./browser-schema.ts";
import { lowerCaseNames } from "./header-schema.ts";
import { type JobInput, jobSchema } from "./job-schema.ts";
import { profilesFrom } from "./profile-schema.ts";
import { exitsFrom } from "./proxy-schema.ts";
import { issueText, uniqueIssues, unknownKeysAdvice } from "./schema-errors.ts";
import { sessionsFrom } from "./session-schema.ts";
import { sitemapsFrom, sitemapUrls } from "./sitemap-schema.ts";
import { hasLargeBody, originsOf, readEntry, requestProblem, startEntries, urlOfEntry } from "./url-entry.ts";

export type JobDefaults = Pick<
  Config,
  | "rate"
  | "burst"
  | "perSite"
  | "robots"
  | "adaptive"
  | "retries"
  | "backoffMs"
  | "bodyBytes"
  | "siteGrouping"
  | "routes"
  | "bodies"
  | "requestBodyBytes"
>;

/** Values that the submitting process adds to the job. */
type JobContext = {
  id: string;
  requestId: string;
  queue: string | undefined;
  /** The queue for `parse: "queue"`; undefined: the queue `parse`. */
  parseQueue?: string;
  typedHosts: readonly string[];
  out: string | undefined;
  /** The recrawl set of a job that sets `recrawl` without a set. */
  recrawlSet?: string;
};

/**
 * A list of up to this many URLs is stored with the job. An interrupted submission can then continue, even if the
 * caller no longer has the list. A list with large request bodies is not stored with the job.
 */
const KEPT_URLS = 500;

/** How long a named dedup scope remembers a URL, unless the job sets `expireAfter`. */
const DEFAULT_EXPIRY_MS = 24 * 3_600_000;

/** Validates a job as written. Throws BAD_JOB with one line per problem: the key, and the values that it accepts. */
export function parseJob(input: unknown): JobInput {
  const parsed = jobSchema.safeParse(input, { error: issueText });
  if (parsed.success) return parsed.data;
  const problems = uniqueIssues(parsed.error.issues).map(describe);
  throw new TrawlError("BAD_JOB", { op: "submit.parseJob", message: problems.join("\n"), detail: { problems } });
}

export function resolveJob(input: JobInput, defaults: JobDefaults, context: JobContext): JobSpec {
  checkWebhookEvents(input);
  const hasLarge = checkBodies(input.urls ?? [], defaults);
  const { politeness = {}, retries = {}, limits = {}, keep = {}, render = "never" } = input;
  const urls = startEntries(input);
  const policy = policyFrom(politeness, {
    intervalMs: defaults.rate,
    burst: defaults.burst,
    perSite: defaults.perSite,
  });
  const sites = Object.entries(politeness.sites ?? {}).map(([site, own]) => [
    site.toLowerCase(),
    policyFrom(own, policy),
  ]);
  return {
    id: context.id,
    requestId: context.requestId,
    name: input.name ?? nameFrom(input),
    urls: urls.length <= KEPT_URLS && !hasLarge ? urls : [],
    urlCount: urls.length,
    urlsHash: hash("sha1", urls.join("\n")),
    ...(input.sitemaps === undefined ? {} : { sitemaps: sitemapsFrom(input.sitemaps) }),
    spider: input.spider,
    follow: input.follow === undefined ? undefined : followFrom(input.follow),
    extract: input.extract,
    politeness: {
      policy,
      robots: politeness.robots ?? defaults.robots,
      sites: Object.fromEntries(sites),
      adaptive: politeness.adaptive ?? defaults.adaptive,
      ...(politeness.metaRobots === true ? { metaRobots: true } : {}),
    },
    siteGrouping: defaults.siteGrouping,
    retries: {
      max: retries.max ?? defaults.retries,
      backoffMs: durationOr(retries.backoff, defaults.backoffMs),
      ...(retries.unsafe === undefined ? {} : { unsafe: retries.unsafe }),
    },
    limits: { pages: limits.pages, seconds: limits.seconds, bodyBytes: limits.bodyBytes ?? defaults.bodyBytes },
    ...routingFrom(input, defaults, context),
    renderQueue: regionalQueue(context.queue ?? input.queue ?? "render", regionOf(input, context)),
    render,
    browser: browserOf(input, defaults),
    parse: parseFrom(input, defaults, context),
    headers: lowerCaseNames(input.headers ?? {}),
    ...(input.auth === undefined ? {} : { auth: authFrom(input.auth) }),
    origins: originsOf(input.login === undefined ? urls : [...urls, input.login.url]),
    ...sessionsFrom(input),
    ...(input.proxy === undefined ? {} : { proxy: exitsFrom(input.proxy) }),
    ...(input.profile === undefined ? {} : { profile: profilesFrom(input.profile) }),
    ...(input.blocks === undefined ? {} : { blocks: blocksFrom(input.blocks) }),
    dedup: dedupFrom(input.dedup),
    keep: { bodies: keepsBodies(input, defaults), pages: keep.pages ?? true, records: keep.records ?? true },
    ...(input.recrawl === undefined ? {} : { recrawl: recrawlFrom(input.recrawl, context) }),
    typedHosts: context.typedHosts,
    out: context.out,
  };
}

/** Whether a request of the job has a large body. Throws BAD_JOB if one is too large. */
function checkBodies(urls: readonly string[], settings: BodySettings): boolean {
  let hasLarge = false;
  for (const [nth, entry] of urls.entries()) {
    if (!hasLargeBody(entry)) continue;
    hasLarge = true;
    const read = readEntry(entry);
    const problem = "request" in read && read.request ? requestProblem(read.request, settings) : undefined;
    if (problem === undefined) continue;
    throw new TrawlError("BAD_JOB", { op: "submit.resolveJob", message: `urls.${nth}: ${problem}` });
  }
  return hasLarge;
}

/** Refuses the event `records` for a job that stores no records, because the event is built from stored records. */
function checkWebhookEvents({ webhook, keep }: JobInput): void {
  if (keep?.records !== false || webhook?.events?.includes("records") !== true) return;
  throw new TrawlError("BAD_JOB", {
    op: "submit.resolveJob",
    message:
      "webhook.events: records are read from the store, but keep.records is off; turn on keep.records, or remove records here",
  });
}

/** Workers started with `trawl worker --queues parse` serve this queue. */
const PARSE_QUEUE = "parse";

function parseFrom(input: JobInput, { bodies }: JobDefaults, { parseQueue }: JobContext): JobSpec["parse"] {
  if (input.parse !== "queue") return undefined;
  const problem = parseQueueProblem(input, bodies);
  if (problem === undefined) return { queue: parseQueue ?? PARSE_QUEUE };
  const { parse, render, spider } = input;
  throw new TrawlError("BAD_JOB", {
    op: "submit.resolveJob",
    message: `parse: "queue" ${problem}`,
    detail: { parse, render, spider },
  });
}

/** Why the pages of the job cannot reach a parse worker; undefined if they can. */
function parseQueueProblem({ render, spider }: JobInput, bodies: JobDefaults["bodies"]): string | undefined {
  if (bodies === "none") {
    return "stores pages for parse workers in TRAWL_BODIES, which is none; set it to a folder that all workers share, such as file:.trawl/bodies, or remove parse";
  }
  if (render === "always" && spider !== undefined) {
    return 'does not work with render: "always" in a spider: its handlers may use the open page (tab), which exists only in the browser; remove parse, or use render: "auto", which queues only pages that need no browser';
  }
  return undefined;
}

function browserOf({ browser, keep = {}, render, blocks }: JobInput, { bodies }: JobDefaults): JobSpec["browser"] {
  if (browser !== undefined && render === undefined && blocks?.steps?.includes("browser") !== true) {
    throw new TrawlError("BAD_JOB", {
      op: "submit.resolveJob",
      message:
        "browser: has no effect without render; add render: auto or always (--render), or render: never to keep the browser settings unused",
    });
  }
  const spec = browserFrom(browser ?? {});
  if (spec.screenshot === "none" && !spec.pdf) return spec;
  const obstacle = bodies === "none" ? NO_BODIES : keep.pages === false && keep.records === false ? NO_ROWS : undefined;
  if (obstacle === undefined) return spec;
  throw new TrawlError("BAD_JOB", {
    op: "submit.resolveJob",
    message: `browser.screenshot and browser.pdf ${obstacle}, or remove both`,
    detail: { screenshot: spec.screenshot, pdf: spec.pdf },
  });
}

function keepsBodies({ keep = {} }: JobInput, { bodies }: JobDefaults): boolean {
  if (keep.bodies !== true || bodies !== "none") return keep.bodies ?? false;
  const message = `keep.bodies: bodies ${NO_BODIES}, or remove keep.bodies (--keep-bodies)`;
  throw new TrawlError("BAD_JOB", { op: "submit.resolveJob", message });
}

const NO_BODIES = "are stored in TRAWL_BODIES, which is none; set it to a folder, such as file:.trawl/bodies";
const NO_ROWS = "belong to a page, and keep.pages and keep.records are both off; turn on keep.pages";

/** The priority of tasks if neither the job nor a route sets one. */
const DEFAULT_PRIORITY = 5;

/** The region whose workers run the tasks of the job. A crawl has its own queue and its own processes. */
function regionOf({ proxy }: JobInput, context: JobContext): string | undefined {
  return context.queue === undefined && proxy?.use !== "none" ? proxy?.region : undefined;
}

function routingFrom(input: JobInput, defaults: JobDefaults, context: JobContext): JobRouting {
  const { routes, ...unrouted } = routingInAnyRegion(input, defaults, context);
  const region = regionOf(input, context);
  const inRegion = <R extends Routing>(routing: R): R => ({ ...routing, queue: regionalQueue(routing.queue, region) });
  return { ...inRegion(unrouted), routes: routes.map(inRegion) };
}

function routingInAnyRegion(input: JobInput, { routes }: JobDefaults, context: JobContext): JobRouting {
  const queue = context.queue ?? input.queue;
  // Only some workers have a browser, so rendered jobs have a queue of their own.
  const fallback = { queue: input.render === "always" ? "render" : "fetch", priority: DEFAULT_PRIORITY };
  const chosen = {
    ...(queue === undefined ? {} : { queue }),
    ...(input.priority === undefined ? {} : { priority: input.priority }),
  };
  return resolveRoutes(routes, { name: input.name ?? nameFrom(input), spider: input.spider }, chosen, fallback);
}

/** Whether two jobs fetch the same URLs and store the same results, possibly at different rates. */
export function isSameWork(one: JobSpec, other: JobSpec): boolean {
  return workOf(one) === workOf(other);
}

/**
 * The part of a job that `isSameWork` compares. `bodyHash`: jobs that older versions submitted under an idempotency key
 * have it instead of `digest`.
 */
function workOf(spec: JobSpec & { bodyHash?: string }): string {
  const { id, requestId, queue, renderQueue, priority, routes, parse, out, politeness, digest, bodyHash, ...work } =
    spec;
  return JSON.stringify(work);
}

/** A new job id: the time, so that ids sort by time, and 40 random bits. */
export function newJobId(now: number): string {
  return `j${timeSortedId(now)}`;
}

const KEY = /^[\x20-\x7e]{1,255}$/;
export const KEY_TAKES = "1 to 255 printable ASCII characters";

/** The id of the job under an idempotency key: equal keys of a tenant give equal ids. Undefined for an invalid key. */
export function jobIdOfKey(key: string, tenant: string): string | undefined {
  return KEY.test(key) ? `jk${hash("sha256", `${tenant}\n${key}`).slice(0, 24)}` : undefined;
}

/** A new request id, for a submission without one. */
export function newRequestId(now: number): string {
  return `r${timeSortedId(now)}`;
}

function timeSortedId(now: number): string {
  return Math.floor(now).toString(36) + randomBytes(5).toString("hex");
}

function describe(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    const where = path === "" ? "" : ` in ${path}`;
    return `unknown key ${issue.keys.join(", ")}${where}${unknownKeysAdvice(jobSchema, issue.path, issue.keys)}`;
  }
  return path === "" ? issue.message : `${path}: ${issue.message}`;
}

function policyFrom(
  own: { rate?: string | undefined; burst?: number | undefined; perSite?: number | undefined },
  fallback: SitePolicy,
): SitePolicy {
  return {
    intervalMs: (own.rate === undefined ? undefined : parseRate(own.rate)) ?? fallback.intervalMs,
    burst: own.burst ?? fallback.burst,
    perSite: own.perSite ?? fallback.perSite,
  };
}

/** Resolves the link settings: fills in the defaults. */
export function followFrom(follow: NonNullable<JobInput["follow"]>): FollowSpec {
  return {
    links: follow.links ?? "a[href]",
    scope: follow.scope ?? "site",
    include: follow.include ?? [],
    exclude: follow.exclude ?? [],
    maxDepth: follow.maxDepth,
  };
}

function dedupFrom(dedup: JobInput["dedup"]): JobSpec["dedup"] {
  if (dedup === undefined || dedup.scope === "job") return { scope: "job" };
  return { scope: dedup.scope, expireAfterMs: durationOr(dedup.expireAfter, DEFAULT_EXPIRY_MS) };
}

function recrawlFrom({ set, emit = "all" }: NonNullable<JobInput["recrawl"]>, { recrawlSet }: JobContext): RecrawlSpec {
  const chosen = set ?? recrawlSet;
  if (chosen !== undefined) return { set: chosen, emit };
  throw new TrawlError("BAD_JOB", {
    op: "submit.resolveJob",
    message:
      'recrawl.set: is missing; name the set to compare pages with, such as recrawl: { set: "shop" } (--recrawl shop); only jobs of a schedule have a default set',
  });
}

function durationOr(text: string | number | undefined, fallbackMs: number): number {
  return (text === undefined ? undefined : parseDurationMs(text)) ?? fallbackMs;
}

function nameFrom({ spider, urls, sitemaps }: JobInput): string {
  const first = urls?.[0] ?? sitemapUrls(sitemaps)[0];
  if (first !== undefined)
    return urlOfEntry(first)
      .replace(/^https?:\/\//, "")
      .slice(0, 80);
  return spider ?? "job";
}
