/** Links of a page -> new tasks: scope, depth, robots.txt and a cap on links, in that order. Dedup is the frontier's. */
import type { Routing } from "../domain/route.ts";
import { siteOf } from "../domain/site.ts";
import type { NewTask, TaskKind } from "../domain/task.ts";
import { type JobSpec, kindOf, queueFor } from "../submit/job-spec.ts";
import type { Scope } from "./scope.ts";

/** A link a spider asked for by name: taken as it is, whatever the scope. */
export type Wanted = { url: string; handler?: string; carry?: unknown; priority?: number };

export type Found = {
  /** Canonical links of the page, each once. */
  links: readonly string[];
  wanted: readonly Wanted[];
};

export type DiscoverInput = {
  spec: Pick<JobSpec, "siteGrouping" | "render" | "renderQueue">;
  /** Undefined: the job follows no links by rule. */
  scope: Scope | undefined;
  pageUrl: string;
  /** How the other pages of its site are fetched. */
  ownKind: TaskKind;
  depth: number;
  found: Found;
  /** What robots.txt of the page's own host allows; true for other hosts, which are asked when their turn comes. */
  isAllowed(url: string): boolean;
  routeOf(url: string): Routing;
  maxLinks: number;
};

export type Discovery = { tasks: NewTask[] /** Ruled out by robots.txt, or more than `maxLinks`. */; refused: number };

export function discover(input: DiscoverInput): Discovery {
  const { spec, scope, pageUrl, depth, found, isAllowed, routeOf, maxLinks } = input;
  const tasks: NewTask[] = [];
  let refused = 0;
  const origin = pageUrl.slice(0, pageUrl.indexOf("/", 8) + 1);
  const pageSite = siteOf(pageUrl, spec.siteGrouping);

  /** Room left, and not ruled out; what is refused is counted. */
  function mayOffer(url: string): boolean {
    if (tasks.length < maxLinks && isAllowed(url)) return true;
    refused += 1;
    return false;
  }
  /** Made for every link of every page: written out, since spreading a routing into each costs 3 % of a crawl's CPU. */
  function taskFor(url: string): NewTask {
    const isHere = url.startsWith(origin);
    const site = isHere ? pageSite : siteOf(url, spec.siteGrouping);
    const kind = isHere ? input.ownKind : kindOf(spec);
    const routing = routeOf(url);
    return { url, site, kind, queue: queueFor(kind, routing, spec), priority: routing.priority, depth: depth + 1 };
  }

  for (const { url, ...own } of found.wanted) if (mayOffer(url)) tasks.push({ ...taskFor(url), ...own });
  if (scope?.goesDeeperThan(depth)) {
    const inScope = scope.from(pageUrl);
    for (const url of found.links) if (inScope(url) && mayOffer(url)) tasks.push(taskFor(url));
  }
  return { tasks, refused };
}
