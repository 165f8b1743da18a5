/**
 * Chooses the queue and priority of a URL. The first route of the operator that matches decides. If it leaves out the
 * queue or the priority, the default applies. A queue or priority set in the job itself overrides every route.
 *
 * Routes are resolved when a job is submitted and stored with it, so that all workers route a URL the same way,
 * whatever their own settings are.
 */
import { canonicalUrl } from "./canonical-url.ts";
import { compileGlobs } from "./glob.ts";

/** All given conditions must match. If a condition has several patterns, one of them must match. */
export type RouteMatch = {
  /** The name of the spider, or of its file without extension; `*` matches any characters. */
  spider?: readonly string[];
  /** The name of the job; `*` matches any characters. */
  job?: readonly string[];
  /** The host: `a.example` matches itself, `*.a.example` its subdomains. */
  domain?: readonly string[];
  /** The URL, as a glob. */
  url?: readonly string[];
};

/** The queue and priority of tasks. */
export type Routing = { queue: string; priority: number };

export type Route = Partial<Routing> & { match: RouteMatch };

/** A resolved route of one job: only the URL remains to be matched. */
export type UrlRoute = Routing & Pick<RouteMatch, "domain" | "url">;

export type JobRouting = Routing & { routes: readonly UrlRoute[] };

type JobNames = { name: string; spider: string | undefined };

/**
 * Resolves the routes for one job. `own`: values set in the job itself. `defaults`: used if neither job nor route sets
 * them.
 */
export function resolveRoutes(
  routes: readonly Route[],
  job: JobNames,
  own: Partial<Routing>,
  defaults: Routing,
): JobRouting {
  const unrouted = { ...defaults, ...own };
  // Both values are set: routes cannot change anything.
  if (own.queue !== undefined && own.priority !== undefined) return { ...unrouted, routes: [] };
  const byUrl: UrlRoute[] = [];
  for (const { match, queue, priority } of routes) {
    if (!isForJob(match, job)) continue;
    const { domain, url } = match;
    const routed = {
      queue: own.queue ?? queue ?? defaults.queue,
      priority: own.priority ?? priority ?? defaults.priority,
    };
    // This route matches every remaining URL: later routes are never reached.
    if (domain === undefined && url === undefined) return { ...routed, routes: byUrl };
    byUrl.push({ ...routed, ...(domain === undefined ? {} : { domain }), ...(url === undefined ? {} : { url }) });
  }
  return { ...unrouted, routes: byUrl };
}

/** Returns a function that routes the canonical URLs of a job. */
export function createRouter({
  queue,
  priority,
  routes = [],
}: Routing & Partial<JobRouting>): (url: string) => Routing {
  const fallback = { queue, priority };
  if (routes.length === 0) return () => fallback;
  const choices = routes.map(({ domain, url, ...routing }) => ({
    routing: { queue: routing.queue, priority: routing.priority },
    matchesHost: domain === undefined ? undefined : compileDomains(domain),
    matchesUrl: url === undefined ? undefined : compileGlobs(url),
  }));
  return (url) => {
    const host = hostOf(url);
    const found = choices.find(
      ({ matchesHost, matchesUrl }) =>
        (matchesHost === undefined || matchesHost(host)) && (matchesUrl === undefined || matchesUrl(url)),
    );
    return found === undefined ? fallback : found.routing;
  };
}

/** All queues that tasks of a job may use. */
export function queuesOf({ queue, routes = [] }: Pick<Routing, "queue"> & Partial<JobRouting>): string[] {
  return [...new Set([queue, ...routes.map((route) => route.queue)])];
}

/** What is wrong with a host pattern, as the predicate of a sentence; undefined if it is valid. */
export function domainProblem(pattern: string): string | undefined {
  const host = pattern.startsWith("*.") ? pattern.slice(2) : pattern;
  if (host.includes("*")) return 'may have a "*" only as its first label: *.a.example';
  if (/[/?#@\s]/.test(host) || host === "") return "is not a host such as a.example, or *.a.example";
  if (canonicalHost(host) === undefined)
    return "is not a host such as a.example, or *.a.example; routes ignore ports, so leave the port out";
  return undefined;
}

function isForJob({ spider, job }: RouteMatch, { name, spider: path }: JobNames): boolean {
  if (job !== undefined && !job.some((pattern) => matchesName(pattern, name))) return false;
  if (spider === undefined) return true;
  if (path === undefined) return false;
  return spider.some((pattern) => matchesName(pattern, name) || matchesName(pattern, moduleName(path)));
}

/** `/srv/spiders/shop.ts` becomes `shop`. */
function moduleName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1).replace(/\.[mc]?[jt]s$/, "");
}

/**
 * Whether a name matches a pattern in which `*` matches any characters. Each literal is matched at its first position,
 * which is never worse than a later one.
 */
function matchesName(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (!name.startsWith(first)) return false;
  let from = first.length;
  for (const literal of rest) {
    const at = name.indexOf(literal, from);
    if (at < 0) return false;
    from = at + literal.length;
  }
  return name.length - last.length >= from && name.endsWith(last);
}

function compileDomains(patterns: readonly string[]): (host: string) => boolean {
  const exact = new Set<string>();
  const endings: string[] = [];
  for (const pattern of patterns) {
    const host = canonicalHost(pattern.replace(/^\*\./, "")) ?? "";
    if (host === "") continue; // an invalid pattern matches nothing
    if (pattern.startsWith("*.")) endings.push(`.${host}`);
    else exact.add(host);
  }
  return (host) => exact.has(host) || endings.some((ending) => host.endsWith(ending));
}

/** The host as in canonical URLs; undefined if it is not a host or has a port. */
function canonicalHost(host: string): string | undefined {
  const url = canonicalUrl(`http://${host}/`);
  const found = url === undefined ? undefined : url.slice("http://".length, -1);
  return found === undefined || /:\d+$/.test(host) || found.includes("/") ? undefined : found;
}

function hostOf(canonical: string): string {
  const start = canonical.indexOf("//") + 2;
  return canonical.slice(start, canonical.indexOf("/", start)).replace(/:\d+$/, "");
}
