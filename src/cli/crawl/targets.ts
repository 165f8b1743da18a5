/** Reads the targets and flags of a command into a job and its URLs. */
import { readFileSync } from "node:fs";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import { TrawlError } from "../../errors.ts";
import { parseRuleFlags } from "../../extract/rule-flags.ts";
import { canonicalOrigin } from "../../submit/auth-schema.ts";
import type { JobInput } from "../../submit/job-schema.ts";
import { parseJob } from "../../submit/resolve-job.ts";
import { sitemapUrls } from "../../submit/sitemap-schema.ts";
import { canonicalEntryUrl, originsOf, readEntry, requestPartsSchema, startEntries } from "../../submit/url-entry.ts";
import { readSpiderJob } from "./read-spider.ts";

export type CrawlFlags = {
  extract: string[];
  follow?: string;
  scope?: string;
  include: string[];
  exclude: string[];
  maxPages?: number;
  maxDepth?: number;
  maxSeconds?: number;
  rate?: string;
  burst?: number;
  perSite?: number;
  ignoreRobots?: boolean;
  /** False if --no-adaptive is given. */
  adaptive?: boolean;
  retries?: number;
  header: string[];
  user?: string;
  method?: string;
  cookies?: boolean;
  data?: string;
  keepBodies?: boolean;
  /** True if the flag has no set name. */
  recrawl?: string | true;
  /** True if the flag has no URL. */
  sitemap?: string[] | true;
  since?: string;
  changedOnly?: boolean;
  render?: string;
  waitFor?: string;
  parse?: string;
  name?: string;
  requestId?: string;
};

export type Target = { job: JobInput; urls: readonly string[] };

/**
 * Reads the target of a crawl and applies the flags. Throws BAD_USAGE, BAD_URL, BAD_JOB, BAD_SELECTOR or BAD_SPIDER.
 */
export async function readTarget(targets: readonly string[], flags: CrawlFlags): Promise<Target> {
  const base = (await writtenJob(targets)) ?? {
    urls: targets.flatMap(urlsOf).map((entry) => withRequestFlags(entry, flags)),
    follow: {},
  };
  const withoutUser = parseJob(withFlags(base, flags));
  const urls = startEntries(withoutUser);
  const job = withUserFlag(withoutUser, urls, flags);
  for (const entry of urls) if (canonicalEntryUrl(entry) === undefined) throw badEntry(entry);
  if (urls.length === 0) throw nothingGiven();
  return { job, urls };
}

/** The job of a spider or a job file; undefined if the targets are URLs or URL lists. */
export async function writtenJob(targets: readonly string[]): Promise<JobInput | undefined> {
  const [first] = targets;
  if (first === undefined || targets.length > 1) return undefined;
  if (isSpiderPath(first)) return readSpiderJob(first);
  return !isUrlLike(first) && first.endsWith(".json") ? jobFile(first) : undefined;
}

export function nothingGiven(): TrawlError {
  return new TrawlError("BAD_USAGE", {
    op: "cli.targets",
    message: "nothing to crawl; pass a URL, a spider (spider.ts), a job (job.json) or a URL list (urls.txt)",
  });
}

function isUrlLike(target: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(target);
}

function isSpiderPath(target: string): boolean {
  return !isUrlLike(target) && /\.[mc]?[jt]s$/.test(target);
}

function jobFile(path: string): JobInput {
  try {
    return parseJob(JSON.parse(readText(path)));
  } catch (cause) {
    if (cause instanceof TrawlError) throw cause;
    throw new TrawlError("BAD_JOB", {
      op: "cli.crawl",
      message: `${path} is not valid JSON: ${(cause as Error).message}`,
      detail: { path },
      cause,
    });
  }
}

/**
 * The URLs of a target. A URL is returned unchanged. A `.txt` file or `-` (stdin) has one URL per line; empty lines and
 * # comments are skipped.
 */
function urlsOf(target: string): string[] {
  if (!isList(target)) return [target];
  return readText(target).split(/\r?\n/).map(trimmed).filter(isUrlLine);
}

/** True if the target is a URL list. */
export function isList(target: string): boolean {
  return target === "-" || (!isUrlLike(target) && target.endsWith(".txt"));
}

export function isUrlLine(line: string): boolean {
  return line !== "" && !line.startsWith("#");
}

function trimmed(line: string): string {
  return line.trim();
}

function readText(path: string): string {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (cause) {
    throw unreadableList(path, cause);
  }
}

export function unreadableList(path: string, cause: unknown): TrawlError {
  return new TrawlError("BAD_USAGE", {
    op: "cli.targets",
    message: `cannot read ${path}: ${(cause as Error).message}; pass an existing file, or a URL`,
    detail: { path },
    cause,
  });
}

/**
 * Adds --method and --data to a URL. A line of a list that is a request already is not changed. Throws BAD_USAGE.
 */
export function withRequestFlags(entry: string, { method, data }: Pick<CrawlFlags, "method" | "data">): string {
  if ((method === undefined && data === undefined) || entry.startsWith("{")) return entry;
  const parts = { ...(method === undefined ? {} : { method }), ...(data === undefined ? {} : dataPart(data)) };
  const parsed = requestPartsSchema.safeParse(parts);
  if (parsed.success) return JSON.stringify({ url: entry, ...parts });
  const flags = { method: "--method", json: "--data", form: "--data", body: "--data" };
  const problems = parsed.error.issues.map(({ path: [key = ""], message }) => {
    return `${flags[key as keyof typeof flags] ?? key}: ${message}`;
  });
  throw new TrawlError("BAD_USAGE", { op: "cli.targets", message: problems.join("; ") });
}

/** `@FILE` reads a file. JSON text is sent as JSON, other text as a form, as curl does. */
function dataPart(data: string): { json: unknown } | { form: Record<string, string | string[]> } {
  const text = data.startsWith("@") ? readText(data.slice(1)).trimEnd() : data;
  try {
    return { json: JSON.parse(text) };
  } catch {
    const form: Record<string, string | string[]> = {};
    for (const [name, value] of new URLSearchParams(text)) {
      const before = form[name];
      form[name] = before === undefined ? value : [before, value].flat();
    }
    return { form };
  }
}

/** The error for an entry that cannot be fetched. */
function badEntry(entry: string): TrawlError {
  const read = readEntry(entry);
  if (!("problem" in read)) return badUrl(read.url);
  const message = `${entry.slice(0, 200)} is ${read.problem}`;
  return new TrawlError("BAD_URL", { op: "cli.targets", message, detail: { entry } });
}

/** The error for a URL that cannot be fetched, with a suggestion if only the scheme is missing. */
export function badUrl(url: string): TrawlError {
  // Servers on an IP address or on localhost rarely have a certificate.
  const isLocal = /^(?:localhost|\d+\.\d+\.\d+\.\d+|\[[0-9a-f:]+\])(?=[:/]|$)/i.test(url);
  const guess = canonicalUrl(`${isLocal ? "http" : "https"}://${url}`);
  const hint =
    !isUrlLike(url) && guess !== undefined && (isLocal || url.includes("."))
      ? `; did you mean: ${guess}`
      : "; use an absolute http(s) URL";
  return new TrawlError("BAD_URL", {
    op: "cli.targets",
    message: `${JSON.stringify(url.slice(0, 200))} cannot be fetched${hint}`,
    detail: { url },
  });
}

/**
 * The job with the values of the flags, which override its own settings. Throws BAD_USAGE for flags that the job does
 * not allow.
 */
export function withFlags(base: JobInput, flags: CrawlFlags): JobInput {
  if (base.spider !== undefined && flags.extract.length > 0) {
    const message = "-e is not allowed for a spider, whose handlers emit the records; remove -e";
    throw new TrawlError("BAD_USAGE", { op: "cli.targets", message });
  }
  if (base.spider !== undefined && flags.follow !== undefined) {
    const message = "--follow is not allowed for a spider, whose handlers select the links; remove --follow";
    throw new TrawlError("BAD_USAGE", { op: "cli.targets", message });
  }
  const { politeness = {}, limits = {}, retries = {}, keep = {}, headers = {} } = base;
  return compact({
    ...base,
    name: flags.name ?? base.name,
    render: (flags.render as JobInput["render"]) ?? base.render,
    browser: flags.waitFor === undefined ? base.browser : { ...base.browser, waitFor: waitForFlag(flags.waitFor) },
    parse: (flags.parse as JobInput["parse"]) ?? base.parse,
    follow: followFlags(base, flags),
    sitemaps: sitemapFlags(base, flags),
    extract: flags.extract.length > 0 ? parseRuleFlags(flags.extract).rules : base.extract,
    politeness: compact({
      ...politeness,
      rate: flags.rate ?? politeness.rate,
      burst: flags.burst ?? politeness.burst,
      perSite: flags.perSite ?? politeness.perSite,
      robots: flags.ignoreRobots === true ? false : politeness.robots,
      adaptive: flags.adaptive === false ? false : politeness.adaptive,
    }),
    limits: compact({ ...limits, pages: flags.maxPages ?? limits.pages, seconds: flags.maxSeconds ?? limits.seconds }),
    retries: compact({ ...retries, max: flags.retries ?? retries.max }),
    headers: { ...headers, ...headerFlags(flags.header) },
    cookies: flags.cookies ?? base.cookies,
    recrawl: recrawlFlags(base, flags),
    keep: flags.keepBodies === true ? { ...keep, bodies: true } : keep,
  }) as JobInput;
}

/** Sends the user and password of --user to the origins of these entries. Throws BAD_USAGE. */
export function withUserFlag(job: JobInput, entries: readonly string[], { user }: Pick<CrawlFlags, "user">): JobInput {
  if (user === undefined) return job;
  // The user name may be a reference, whose colon is not the separator.
  const [, name, password] = /^(env:[^:]+|[^:]*):(.*)$/s.exec(user) ?? [];
  if (name === undefined || password === undefined) {
    const message = "--user takes USER:PASSWORD, such as alice:env:SHOP_PASSWORD";
    throw new TrawlError("BAD_USAGE", { op: "cli.targets", message });
  }
  const own = originsOf(entries).map((origin) => [origin, { basic: { user: name, password } }]);
  const others = Object.entries(job.auth ?? {}).map(([text, one]) => [canonicalOrigin(text) ?? text, one]);
  return { ...job, auth: { ...Object.fromEntries(others), ...Object.fromEntries(own) } };
}

function followFlags(base: JobInput, flags: CrawlFlags): JobInput["follow"] {
  if (flags.follow === "none") return undefined;
  const { follow, scope, include, exclude, maxDepth } = flags;
  const hasFlags =
    follow !== undefined || scope !== undefined || maxDepth !== undefined || include.length + exclude.length > 0;
  if (base.follow === undefined && !hasFlags) return undefined;
  return compact({
    ...base.follow,
    links: follow ?? base.follow?.links,
    scope: scope ?? base.follow?.scope,
    include: include.length > 0 ? include : base.follow?.include,
    exclude: exclude.length > 0 ? exclude : base.follow?.exclude,
    maxDepth: maxDepth ?? base.follow?.maxDepth,
  }) as JobInput["follow"];
}

function sitemapFlags({ sitemaps }: JobInput, flags: Pick<CrawlFlags, "sitemap" | "since">): JobInput["sitemaps"] {
  const { sitemap, since } = flags;
  if (sitemap === undefined && since === undefined) return sitemaps;
  const named = sitemapUrls(sitemaps);
  const before = sitemaps === undefined ? undefined : named.length > 0 ? [...named] : true;
  const from = sitemap ?? before;
  if (from !== undefined) return since === undefined ? from : { from, since };
  throw new TrawlError("BAD_USAGE", {
    op: "cli.targets",
    message: `--since ${since} needs --sitemap: it leaves out pages whose lastmod in the sitemap is older`,
  });
}

function recrawlFlags({ recrawl }: JobInput, { recrawl: set, changedOnly }: CrawlFlags): JobInput["recrawl"] {
  if (typeof set === "string" && isUrlLike(set)) {
    const message = `--recrawl takes the name of a set, not the URL ${set}; put the URL first: URL --recrawl SET`;
    throw new TrawlError("BAD_USAGE", { op: "cli.targets", message, detail: { set } });
  }
  const merged = set === undefined ? recrawl : set === true ? { ...recrawl } : { ...recrawl, set };
  if (changedOnly !== true) return merged;
  if (merged !== undefined) return { ...merged, emit: "changed" };
  throw new TrawlError("BAD_USAGE", {
    op: "cli.targets",
    message: "--changed-only needs --recrawl SET; SET is the name of the set that pages are compared with",
  });
}

function waitForFlag(what: string): NonNullable<JobInput["browser"]>["waitFor"] {
  return what === "load" || what === "idle" ? what : { selector: what };
}

function headerFlags(flags: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    flags.map((flag) => {
      const colon = flag.indexOf(":");
      if (colon > 0) return [flag.slice(0, colon).trim(), flag.slice(colon + 1).trim()];
      throw new TrawlError("BAD_USAGE", {
        op: "cli.crawl",
        message: `--header must have the form "Name: value", not ${JSON.stringify(flag)}`,
      });
    }),
  );
}

function compact<T extends object>(object: T): Partial<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>;
}
