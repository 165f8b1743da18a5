/** Checks a job as written and makes every choice it leaves open. */
import { hash, randomBytes } from "node:crypto";
import type { z } from "zod";
import type { Config } from "../config/schema.ts";
import { parseDurationMs } from "../domain/duration.ts";
import type { SitePolicy } from "../domain/politeness.ts";
import { parseRate } from "../domain/rate.ts";
import { type JobRouting, resolveRoutes } from "../domain/route.ts";
import { TrawlError } from "../errors.ts";
import { browserFrom } from "./browser-schema.ts";
import { type JobInput, jobSchema } from "./job-schema.ts";
import type { FollowSpec, JobSpec, RecrawlSpec } from "./job-spec.ts";
import { knownKeys } from "./known-keys.ts";
import { eachOnce, plainWords } from "./plain-issue.ts";

export type JobDefaults = Pick<
  Config,
  "rate" | "burst" | "perSite" | "robots" | "retries" | "backoffMs" | "bodyBytes" | "siteGrouping" | "routes" | "bodies"
>;

/** What the caller knows besides the job: where it came from, and what the person running it allows. */
export type JobContext = {
  id: string;
  requestId: string;
  queue: string | undefined;
  /** Where pages go that are parsed by others, unless that is the queue for it. */
  parseQueue?: string;
  typedHosts: readonly string[];
  out: string | undefined;
  /** Where pages are remembered of a recrawl that names no set. */
  recrawlSet?: string;
};

/** Up to this many URLs are kept with the job, so that a submission cut short can be gone on with. */
const KEPT_URLS = 500;

/** A named set forgets a URL after this, unless the job says. */
const DEFAULT_EXPIRY_MS = 24 * 3_600_000;

/** Throws BAD_JOB naming every key that is wrong, its value and what it takes. */
export function parseJob(input: unknown): JobInput {
  const parsed = jobSchema.safeParse(input, { error: plainWords });
  if (parsed.success) return parsed.data;
  const problems = eachOnce(parsed.error.issues).map(describe);
  throw new TrawlError("BAD_JOB", { op: "submit.parseJob", message: problems.join("\n"), detail: { problems } });
}

export function resolveJob(input: JobInput, defaults: JobDefaults, context: JobContext): JobSpec {
  refuseUntellable(input);
  const { politeness = {}, retries = {}, limits = {}, keep = {}, urls = [], render = "never" } = input;
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
    urls: urls.length <= KEPT_URLS ? urls : [],
    urlCount: urls.length,
    urlsHash: hash("sha1", urls.join("\n")),
    spider: input.spider,
    follow: input.follow === undefined ? undefined : followFrom(input.follow),
    extract: input.extract,
    politeness: { policy, robots: politeness.robots ?? defaults.robots, sites: Object.fromEntries(sites) },
    siteGrouping: defaults.siteGrouping,
    retries: { max: retries.max ?? defaults.retries, backoffMs: durationOr(retries.backoff, defaults.backoffMs) },
    limits: { pages: limits.pages, seconds: limits.seconds, bodyBytes: limits.bodyBytes ?? defaults.bodyBytes },
    ...routingFrom(input, defaults, context),
    renderQueue: context.queue ?? input.queue ?? "render",
    render,
    browser: browserOf(input, defaults),
    parse: parseFrom(input, defaults, context),
    headers: lowerCaseNames(input.headers ?? {}),
    dedup: dedupFrom(input.dedup),
    keep: { bodies: keep.bodies ?? false, pages: keep.pages ?? true, records: keep.records ?? true },
    ...(input.recrawl === undefined ? {} : { recrawl: recrawlFrom(input.recrawl, context) }),
    typedHosts: context.typedHosts,
    out: context.out,
  };
}

/** Records that are not kept cannot be told of later. */
function refuseUntellable({ webhook, keep }: JobInput): void {
  if (keep?.records !== false || webhook?.events?.includes("records") !== true) return;
  throw new TrawlError("BAD_JOB", {
    op: "submit.resolveJob",
    message:
      "webhook.events: records are told from the store, and keep.records is off; keep them, or leave records out",
  });
}

/** A queue that workers serve for nothing else: `trawl worker --queues parse`. */
const PARSE_QUEUE = "parse";

function parseFrom(input: JobInput, { bodies }: JobDefaults, { parseQueue }: JobContext): JobSpec["parse"] {
  if (input.parse !== "queue") return undefined;
  const problem = passingProblem(input, bodies);
  if (problem === undefined) return { queue: parseQueue ?? PARSE_QUEUE };
  const { parse, render, spider } = input;
  throw new TrawlError("BAD_JOB", {
    op: "submit.resolveJob",
    message: `parse: "queue" ${problem}`,
    detail: { parse, render, spider },
  });
}

/** Why not one page of the job could be passed on to whoever parses. */
function passingProblem({ render, spider }: JobInput, bodies: JobDefaults["bodies"]): string | undefined {
  if (bodies === "none") {
    return "passes pages on through TRAWL_BODIES, which is none; name a folder that all workers share, such as file:.trawl/bodies, or leave parse out";
  }
  if (render === "always" && spider !== undefined) {
    return 'cannot be had with render: "always" in a spider: its handlers may use the open page (tab), which stays with its browser; leave parse out, or take render: "auto", which passes on what needs no browser';
  }
  return undefined;
}

function browserOf({ browser, keep = {}, render }: JobInput, { bodies }: JobDefaults): JobSpec["browser"] {
  if (browser !== undefined && render === undefined) {
    throw new TrawlError("BAD_JOB", {
      op: "submit.resolveJob",
      message:
        "browser: says how pages are rendered, and nothing says that they are; add render: auto or always (--render), or never to keep it for later",
    });
  }
  const spec = browserFrom(browser ?? {});
  if (spec.screenshot === "none" && !spec.pdf) return spec;
  const obstacle = bodies === "none" ? NO_BODIES : keep.pages === false && keep.records === false ? NO_ROWS : undefined;
  if (obstacle === undefined) return spec;
  throw new TrawlError("BAD_JOB", {
    op: "submit.resolveJob",
    message: `browser.screenshot and browser.pdf ${obstacle}, or leave both out`,
    detail: { screenshot: spec.screenshot, pdf: spec.pdf },
  });
}

const NO_BODIES = "are kept in TRAWL_BODIES, which is none; name a folder, such as file:.trawl/bodies";
const NO_ROWS = "are found by their page, and keep.pages and keep.records are both off; keep pages";

/** The priority of its tasks where neither the job nor a route says. */
const USUAL_PRIORITY = 5;

function routingFrom(input: JobInput, { routes }: JobDefaults, context: JobContext): JobRouting {
  const queue = context.queue ?? input.queue;
  // Only some machines have a browser: what needs one waits for them.
  const usual = { queue: input.render === "always" ? "render" : "fetch", priority: USUAL_PRIORITY };
  const said = {
    ...(queue === undefined ? {} : { queue }),
    ...(input.priority === undefined ? {} : { priority: input.priority }),
  };
  return resolveRoutes(routes, { name: input.name ?? nameFrom(input), spider: input.spider }, said, usual);
}

/** Whether two jobs are the same piece of work, begun twice, be it at another pace. */
export function isSameWork(one: JobSpec, other: JobSpec): boolean {
  const essence = ({ id, requestId, queue, renderQueue, priority, routes, parse, out, politeness, ...work }: JobSpec) =>
    JSON.stringify(work);
  return essence(one) === essence(other);
}

/** A new job's id: sorts by time, 40 random bits after it. */
export function newJobId(now: number): string {
  return `j${uniqueWord(now)}`;
}

const KEY = /^[\x20-\x7e]{1,255}$/;
export const KEY_TAKES = "1 to 255 printable ASCII characters";

/** The id of the job that is submitted under a key: the same for whoever sends it again. Undefined for what is no key. */
export function jobIdOfKey(key: string, tenant: string): string | undefined {
  return KEY.test(key) ? `jk${hash("sha256", `${tenant}\n${key}`).slice(0, 24)}` : undefined;
}

/** For a submission that brought no id of its own. */
export function newRequestId(now: number): string {
  return `r${uniqueWord(now)}`;
}

function uniqueWord(now: number): string {
  return Math.floor(now).toString(36) + randomBytes(5).toString("hex");
}

function describe(issue: z.core.$ZodIssue): string {
  const path = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(jobSchema, issue.path);
    const where = path === "" ? "" : ` in ${path}`;
    return `unknown key ${issue.keys.join(", ")}${where}${known === "" ? "" : `; known are ${known}`}`;
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

/** What is followed, with every choice made. */
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
      'recrawl.set: name what the next crawl is to be compared with, such as recrawl: { set: "shop" } (--recrawl shop); only the jobs of a schedule have a set of their own',
  });
}

function durationOr(text: string | number | undefined, fallbackMs: number): number {
  return (text === undefined ? undefined : parseDurationMs(text)) ?? fallbackMs;
}

function lowerCaseNames(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function nameFrom({ spider, urls }: JobInput): string {
  const first = urls?.[0];
  if (first !== undefined) return first.replace(/^https?:\/\//, "").slice(0, 80);
  return spider ?? "job";
}
