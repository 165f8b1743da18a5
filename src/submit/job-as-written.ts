/**
 * Converts a resolved job back to one that can be submitted again. Values that equal the defaults are left out.
 * Secrets, and values that were not stored, are listed as missing.
 */
import { PLAIN_BROWSER } from "../domain/browser.ts";
import { isCrawl } from "../domain/crawl-queue.ts";
import type { FollowSpec, JobSpec } from "../domain/job-spec.ts";
import type { SitePolicy } from "../domain/politeness.ts";
import { regionOfQueue } from "../domain/queue-name.ts";
import { formatRate } from "../domain/rate.ts";
import { blocksAsWritten } from "./block-schema.ts";
import { type BrowserInput, browserAsWritten } from "./browser-as-written.ts";
import type { JobInput, WrittenJob } from "./job-schema.ts";
import { maskedEntry } from "./masked-secrets.ts";
import { profilesAsWritten } from "./profile-schema.ts";
import { exitsAsWritten } from "./proxy-schema.ts";
import { followFrom, type JobDefaults, resolveJob } from "./resolve-job.ts";
import { entryAsWritten, isSitemapEntry, urlOfEntry } from "./url-entry.ts";

type JobAsWritten = {
  job: WrittenJob;
  /** Keys that the user has to add before submitting the job again. */
  missing: string[];
};

/** Facts about the job that its spec does not contain. */
type JobFacts = {
  /** The name of its spider in the folder `apiSpiders`, if the spider is in that folder. */
  spider: string | undefined;
  hasWebhook: boolean;
  /** The number of URLs submitted, including lists that were submitted after the job was created. */
  submitted: number;
};

export function jobAsWritten(spec: JobSpec, defaults: JobDefaults, facts: JobFacts): JobAsWritten {
  const { spider, hasWebhook, submitted } = facts;
  const { name, render, urls, urlCount } = spec;
  const plain = resolveJob({ name, render }, defaults, { ...NO_CONTEXT, id: spec.id, requestId: spec.requestId });
  const { browser, hidden } = browserAsWritten(spec.browser);
  // The region in the name of the queue follows from `proxy.region`.
  const { name: queue } = regionOfQueue(spec.queue);
  const isShown = !isSame(spec.browser, PLAIN_BROWSER);
  const recrawl = recrawlOf(spec);
  const job: Record<string, unknown> = {
    name,
    urls: urls
      .filter((entry) => !isSitemapEntry(entry))
      .map(maskedEntry)
      .map(entryAsWritten),
    ...sitemapsOf(spec),
    ...(spider === undefined ? {} : { spider }),
    ...(spec.follow === undefined ? {} : { follow: followOf(spec.follow) }),
    ...(spec.extract === undefined ? {} : { extract: spec.extract }),
    ...where(render !== "never" || isShown, { render }),
    ...where(isShown, { browser: browser satisfies BrowserInput }),
    // Only the processes of a crawl serve its queue.
    ...where(queue !== plain.queue && !isCrawl(spec), { queue }),
    ...where(spec.priority !== plain.priority, { priority: spec.priority }),
    politeness: politenessOf(spec, plain),
    retries: {
      ...where(spec.retries.max !== plain.retries.max, { max: spec.retries.max }),
      ...where(spec.retries.backoffMs !== plain.retries.backoffMs, { backoff: `${spec.retries.backoffMs}ms` }),
      ...withoutUndefined({ unsafe: spec.retries.unsafe }),
    },
    limits: {
      ...withoutUndefined({ pages: spec.limits.pages, seconds: spec.limits.seconds }),
      ...where(spec.limits.bodyBytes !== plain.limits.bodyBytes, { bodyBytes: spec.limits.bodyBytes }),
    },
    keep: changed(spec.keep, plain.keep),
    ...(spec.parse === undefined ? {} : { parse: "queue" }),
    ...(spec.proxy === undefined ? {} : { proxy: exitsAsWritten(spec.proxy) }),
    ...(spec.profile === undefined ? {} : { profile: profilesAsWritten(spec.profile) }),
    ...(spec.blocks === undefined ? {} : { blocks: blocksAsWritten(spec.blocks) }),
    ...dedupOf(spec),
    ...sessionsOf(spec),
    ...recrawl,
  };
  const missing = [
    ...(urls.length === 0 || Math.max(urlCount, submitted) > urls.length ? ["urls"] : []),
    ...(spec.spider !== undefined && spider === undefined ? ["spider"] : []),
    ...Object.keys(spec.headers).map((header) => `headers.${header}`),
    ...Object.keys(spec.auth ?? {}).map((origin) => `auth.${origin}`),
    ...(spec.login === undefined ? [] : ["login"]),
    ...hidden,
    ...(hasWebhook ? ["webhook"] : []),
    ...(spec.recrawl !== undefined && recrawl.recrawl === undefined ? ["recrawl"] : []),
  ];
  return { job: withoutEmpty(job) as WrittenJob, missing };
}

const NO_CONTEXT = { queue: undefined, typedHosts: [], out: undefined };

function followOf({ links, scope, include, exclude, maxDepth }: FollowSpec): NonNullable<JobInput["follow"]> {
  const plain = followFrom({});
  return {
    ...where(links !== plain.links, { links }),
    ...where(scope !== plain.scope, { scope }),
    ...where(include.length > 0, { include: [...include] }),
    ...where(exclude.length > 0, { exclude: [...exclude] }),
    ...(maxDepth === undefined ? {} : { maxDepth }),
  };
}

function politenessOf({ politeness }: JobSpec, plain: JobSpec): JobInput["politeness"] {
  const { policy, robots, sites, adaptive, metaRobots } = politeness;
  const own = Object.entries(sites).map(([site, its]) => [site, policyAsWritten(its, policy)]);
  return {
    ...policyAsWritten(policy, plain.politeness.policy),
    ...where(robots !== plain.politeness.robots, { robots }),
    ...(adaptive === undefined || adaptive === plain.politeness.adaptive ? {} : { adaptive }),
    ...(metaRobots === undefined ? {} : { metaRobots }),
    ...where(own.length > 0, { sites: Object.fromEntries(own) }),
  };
}

function policyAsWritten({ intervalMs, burst, perSite }: SitePolicy, plain: SitePolicy) {
  return {
    ...where(intervalMs !== plain.intervalMs, { rate: formatRate(intervalMs) }),
    ...where(burst !== plain.burst, { burst }),
    ...where(perSite !== plain.perSite, { perSite }),
  };
}

/** A login has values that are not shown, so the user has to add it. */
function sessionsOf({ sessions, login }: JobSpec): Pick<JobInput, "cookies" | "sessions"> {
  if (sessions === undefined) return {};
  const { count, per, rotateAfter } = sessions;
  const isPlain = count === 1 && per === "job" && rotateAfter === undefined;
  if (isPlain) return login === undefined ? { cookies: true } : {};
  return { sessions: { count, per, ...(rotateAfter === undefined ? {} : { rotateAfter }) } };
}

/** The sitemaps among the URLs are written as `sitemaps`. */
function sitemapsOf({ urls, sitemaps }: JobSpec): Pick<JobInput, "sitemaps"> {
  const named = urls.filter(isSitemapEntry).map(urlOfEntry);
  const from = sitemaps?.fromRobots === true ? true : named.length > 0 ? named : undefined;
  if (from === undefined) return {};
  return { sitemaps: sitemaps?.since === undefined ? from : { from, since: sitemaps.since } };
}

/** Removes the prefix of the tenant, which submission adds again. */
function dedupOf({ dedup, tenant }: JobSpec): Pick<JobInput, "dedup"> {
  if (!("expireAfterMs" in dedup)) return {};
  const scope = dedup.scope.replace(`tenant/${tenant}/`, "");
  return { dedup: { scope, expireAfter: `${dedup.expireAfterMs}ms` } };
}

/** The set of a schedule is left out: a job that a user submits is not a run of the schedule. */
function recrawlOf({ recrawl, tenant }: JobSpec): Pick<JobInput, "recrawl"> {
  if (recrawl === undefined) return {};
  const set = recrawl.set.replace(`tenant/${encodeURIComponent(tenant ?? "")}/`, "");
  return set.includes("/") ? {} : { recrawl: { set, ...where(recrawl.emit !== "all", { emit: recrawl.emit }) } };
}

function changed<T extends object>(own: T, plain: T): Partial<T> {
  const entries = Object.entries(own).filter(([key, value]) => !isSame(value, plain[key as keyof T]));
  return Object.fromEntries(entries) as Partial<T>;
}

function where<T extends object>(condition: boolean, part: T): Partial<T> {
  return condition ? part : {};
}

function withoutUndefined(part: object): object {
  return Object.fromEntries(Object.entries(part).filter(([, value]) => value !== undefined));
}

/** Keeps an empty `follow` or `blocks`: they turn a feature on. */
function withoutEmpty(job: object): object {
  const isEmpty = (value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
  return Object.fromEntries(
    Object.entries(job).filter(([key, value]) => key === "follow" || key === "blocks" || !isEmpty(value)),
  );
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
