/**
 * Which queue and priority a URL goes to. The operator's routes are looked through in order, and the first that matches
 * decides; what it leaves out is as if there were no route. What is said with the job itself, its queue or its priority,
 * wins over every route.
 *
 * Routes are resolved when a job is submitted and travel with it, so that every worker sends the same URL the same way,
 * whatever its own settings say.
 */
import { canonicalUrl } from "./canonical-url.ts";
import { compileGlobs } from "./glob.ts";

/** All that are given must hold; of several patterns for one, any. */
export type RouteMatch = {
  /** The spider's name, or its file's without the ending; `*` stands for any characters. */
  spider?: readonly string[];
  /** The job's name; `*` stands for any characters. */
  job?: readonly string[];
  /** The host: `a.example` itself, `*.a.example` what is under it. */
  domain?: readonly string[];
  /** The URL, as a glob. */
  url?: readonly string[];
};

/** Where tasks go. */
export type Routing = { queue: string; priority: number };

export type Route = Partial<Routing> & { match: RouteMatch };

/** A route of one job, with every choice made: only the URL is still to be looked at. */
export type UrlRoute = Routing & Pick<RouteMatch, "domain" | "url">;

export type JobRouting = Routing & { routes: readonly UrlRoute[] };

type JobNames = { name: string; spider: string | undefined };

/** The routes as they are for one job: `said` with the job itself, `otherwise` where neither it nor a route says. */
export function resolveRoutes(
  routes: readonly Route[],
  job: JobNames,
  said: Partial<Routing>,
  otherwise: Routing,
): JobRouting {
  const own = { ...otherwise, ...said };
  // Nothing is left to a route.
  if (said.queue !== undefined && said.priority !== undefined) return { ...own, routes: [] };
  const byUrl: UrlRoute[] = [];
  for (const { match, queue, priority } of routes) {
    if (!isForJob(match, job)) continue;
    const { domain, url } = match;
    const routed = {
      queue: said.queue ?? queue ?? otherwise.queue,
      priority: said.priority ?? priority ?? otherwise.priority,
    };
    // It takes every URL that is left: what comes after it is never reached.
    if (domain === undefined && url === undefined) return { ...routed, routes: byUrl };
    byUrl.push({ ...routed, ...(domain === undefined ? {} : { domain }), ...(url === undefined ? {} : { url }) });
  }
  return { ...own, routes: byUrl };
}

/** Where each canonical URL of a job goes. Jobs that were submitted before there were routes have none. */
export function createRouter({
  queue,
  priority,
  routes = [],
}: Routing & Partial<JobRouting>): (url: string) => Routing {
  const usual = { queue, priority };
  if (routes.length === 0) return () => usual;
  const choices = routes.map(({ domain, url, ...routing }) => ({
    routing: { queue: routing.queue, priority: routing.priority },
    isNear: domain === undefined ? undefined : compileDomains(domain),
    isLike: url === undefined ? undefined : compileGlobs(url),
  }));
  return (url) => {
    const host = hostOf(url);
    const found = choices.find(
      ({ isNear, isLike }) => (isNear === undefined || isNear(host)) && (isLike === undefined || isLike(url)),
    );
    return found === undefined ? usual : found.routing;
  };
}

/** All queues that tasks of a job may go to. */
export function queuesOf({ queue, routes = [] }: Pick<Routing, "queue"> & Partial<JobRouting>): string[] {
  return [...new Set([queue, ...routes.map((route) => route.queue)])];
}

/** What is wrong with the pattern of a host, in words that can follow it; undefined if nothing is. */
export function domainProblem(pattern: string): string | undefined {
  const host = pattern.startsWith("*.") ? pattern.slice(2) : pattern;
  if (host.includes("*")) return 'may have a "*" only as its first label: *.a.example';
  if (/[/?#@\s]/.test(host) || host === "") return "is not a host such as a.example, or *.a.example";
  if (canonicalHost(host) === undefined)
    return "is not a host such as a.example, or *.a.example; a port is not looked at";
  return undefined;
}

function isForJob({ spider, job }: RouteMatch, { name, spider: path }: JobNames): boolean {
  if (job !== undefined && !job.some((pattern) => matchesName(pattern, name))) return false;
  if (spider === undefined) return true;
  if (path === undefined) return false;
  return spider.some((pattern) => matchesName(pattern, name) || matchesName(pattern, moduleName(path)));
}

/** Of `/srv/spiders/shop.ts` it is `shop`. */
function moduleName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1).replace(/\.[mc]?[jt]s$/, "");
}

/** `*` stands for any characters. Takes each literal where it first fits, which is never worse than later. */
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
    if (host === "") continue; // it has a problem, and matches nothing
    if (pattern.startsWith("*.")) endings.push(`.${host}`);
    else exact.add(host);
  }
  return (host) => exact.has(host) || endings.some((ending) => host.endsWith(ending));
}

/** As canonical URLs have it; undefined for what is no host, or has a port. */
function canonicalHost(host: string): string | undefined {
  const url = canonicalUrl(`http://${host}/`);
  const found = url === undefined ? undefined : url.slice("http://".length, -1);
  return found === undefined || /:\d+$/.test(host) || found.includes("/") ? undefined : found;
}

function hostOf(canonical: string): string {
  const start = canonical.indexOf("//") + 2;
  return canonical.slice(start, canonical.indexOf("/", start)).replace(/:\d+$/, "");
}
