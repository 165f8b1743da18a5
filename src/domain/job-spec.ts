/** A resolved job: every setting has its final value. Workers read it; the broker stores it as JSON. */
import type { BlockSpec } from "./block.ts";
import type { BrowserSpec } from "./browser.ts";
import type { JobExits } from "./exit.ts";
import type { Rules } from "./extraction-rules.ts";
import type { ProfileName } from "./header-profile.ts";
import type { SitePolicy } from "./politeness.ts";
import type { Routing, UrlRoute } from "./route.ts";
import type { LoginSpec, SessionSpec } from "./session-spec.ts";
import type { SiteGrouping } from "./site.ts";
import type { TaskKind } from "./task.ts";

export type FollowSpec = {
  /** CSS selector of the elements whose links are followed. */
  links: string;
  /** Which links are followed: those to the same site, to the same registrable domain, or all. */
  scope: "site" | "domain" | "any";
  include: readonly string[];
  exclude: readonly string[];
  maxDepth: number | undefined;
};

export type RecrawlSpec = {
  set: string;
  /** Whether records of all pages are stored, or only those of changed pages. */
  emit: "all" | "changed";
};

export type SitemapSpec = {
  /** Whether the sitemaps that the robots.txt of each start URL names are read. */
  fromRobots: boolean;
  /** As written: a date, or a duration before the submission. Entries that are older are left out. */
  since: string | undefined;
};

export type Credentials = { basic: { user: string; password: string } } | { bearer: string };

export type JobSpec = {
  id: string;
  /** Links logs and traces to one submission. It is the caller's `X-Request-Id` if there was one. */
  requestId: string;
  name: string;
  /** The entries of the start list, if there are few: URLs, and requests as JSON. `urlsHash` is a hash of all start URLs; `trawl crawl --resume` compares it. */
  urls: readonly string[];
  urlCount: number;
  urlsHash: string;
  /** Undefined: only the sitemaps among `urls` are read. */
  sitemaps?: SitemapSpec;
  /** Path of a spider module. If undefined, `extract` and `follow` apply. */
  spider: string | undefined;
  follow: FollowSpec | undefined;
  extract: Rules | undefined;
  politeness: {
    policy: SitePolicy;
    robots: boolean;
    sites: Readonly<Record<string, SitePolicy>>;
    /** Whether errors and slow responses slow down the requests to a site. Jobs of older versions have no value. */
    adaptive?: boolean;
    /** Set if robots directives in pages are obeyed: `noindex` and `nofollow`. */
    metaRobots?: true;
  };
  siteGrouping: SiteGrouping;
  /** `unsafe: false`: a request that may change data is never sent again. Jobs of older versions have no value. */
  retries: { max: number; backoffMs: number; unsafe?: boolean };
  limits: { pages: number | undefined; seconds: number | undefined; bodyBytes: number };
  queue: string;
  /** Queue of the tasks that need a browser. */
  renderQueue: string;
  render: "never" | "auto" | "always";
  browser: BrowserSpec;
  priority: number;
  /** Routes that send some URLs to other queues or priorities. */
  routes: readonly UrlRoute[];
  /** Workers of this queue parse the pages. If undefined, the worker that fetched a page also parses it. */
  parse: { queue: string } | undefined;
  headers: Readonly<Record<string, string>>;
  /** Credentials by origin (scheme, host and port). Values may be references to secrets. */
  auth?: Readonly<Record<string, Credentials>>;
  /** Undefined: the job keeps no cookies. */
  sessions?: SessionSpec;
  /** How a session logs in. A spider may have its own login instead. */
  login?: LoginSpec;
  /** The origins of the start URLs, at most 1,000. Headers that may contain secrets are sent only to them. */
  origins: readonly string[];
  /** The proxies and gateways of its requests. Undefined: all that the worker has. */
  proxy?: JobExits;
  /** The header profiles of its requests. Undefined: Trawl sends its own headers. */
  profile?: readonly ProfileName[];
  /** What the job does after blocks. Undefined: a blocked page is retried like any other failure. */
  blocks?: BlockSpec;
  dedup: { scope: "job" } | { scope: string; expireAfterMs: number };
  keep: { bodies: boolean; pages: boolean; records: boolean };
  /** Pages are compared with the page memory of this set. If undefined, every page counts as new. */
  recrawl?: RecrawlSpec;
  /** Hosts that the user typed. Workers may connect to them even at private addresses. */
  typedHosts: readonly string[];
  /** The file or database to which `trawl crawl` exports the records. */
  out: string | undefined;
  /** The tenant whose API key submitted the job. Keys of other tenants cannot see the job. */
  tenant?: string;
  /** The schedule occurrence that submitted the job. */
  slot?: { scheduleId: string; at: number };
  /** The digest of the job as written, if it was submitted under an idempotency key. */
  digest?: JobDigest;
};

/** `list`: a hash of all URLs, if the whole list was known at submission. See submit/job-digest.ts. */
export type JobDigest = { job: string; list?: string };

/** Whether some pages of the job may be loaded in a browser. */
export function mayRender({ render, blocks }: Pick<JobSpec, "render" | "blocks">): boolean {
  return render !== "never" || blocks?.steps.includes("browser") === true;
}

/** The kind of new tasks, unless the site is known to need a browser. */
export function kindOf({ render }: Pick<JobSpec, "render">): TaskKind {
  return render === "always" ? "render" : "fetch";
}

/**
 * The queue of a task. If a job renders only some of its pages, the tasks that need a browser are queued in
 * `renderQueue`.
 */
export function queueFor(
  kind: TaskKind,
  { queue }: Pick<Routing, "queue">,
  { render, renderQueue }: Pick<JobSpec, "render" | "renderQueue">,
): string {
  return kind === "render" && render !== "always" ? renderQueue : queue;
}
