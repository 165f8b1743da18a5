/**
 * Turns the links of a page into tasks. Filters the links by depth, link scope, robots.txt and the maximum number of
 * links. The frontier deduplicates.
 */
import { type JobSpec, kindOf, queueFor } from "../domain/job-spec.ts";
import type { TaskRequest } from "../domain/request.ts";
import type { Routing } from "../domain/route.ts";
import { siteOf } from "../domain/site.ts";
import type { NewTask, TaskKind } from "../domain/task.ts";
import { requestUrl } from "../domain/task-url.ts";
import type { LinkFilter } from "./link-filter.ts";

/** A link that a spider requested with `follow`. The link scope does not apply to it. */
export type RequestedLink = {
  url: string;
  handler?: string;
  carry?: unknown;
  priority?: number;
  request?: TaskRequest;
};

export type FoundLinks = {
  /** Canonical links of the page, each once. */
  links: readonly string[];
  /** The links that a spider requested. */
  wanted: readonly RequestedLink[];
};

type DiscoverInput = {
  spec: Pick<JobSpec, "siteGrouping" | "render" | "renderQueue">;
  /** Undefined if the job follows no links except those that a spider requests. */
  linkFilter: LinkFilter | undefined;
  pageUrl: string;
  /** The kind of tasks for other pages of the same origin. */
  ownKind: TaskKind;
  depth: number;
  found: FoundLinks;
  /** Applies the robots.txt of the page's host. True for other hosts: their robots.txt is checked before the fetch. */
  isAllowed(url: string): boolean;
  routeOf(url: string): Routing;
  maxLinks: number;
};

type Discovery = {
  tasks: NewTask[];
  /** Links that robots.txt disallows or that exceed `maxLinks`. */
  refused: number;
};

export function discover(input: DiscoverInput): Discovery {
  const { spec, linkFilter, pageUrl, depth, found, isAllowed, routeOf, maxLinks } = input;
  const tasks: NewTask[] = [];
  let refused = 0;
  const origin = pageUrl.slice(0, pageUrl.indexOf("/", 8) + 1);
  const pageSite = siteOf(pageUrl, spec.siteGrouping);

  /** Whether the link becomes a task. Also counts the links that are refused. */
  function isAccepted(url: string): boolean {
    if (tasks.length < maxLinks && isAllowed(url)) return true;
    refused += 1;
    return false;
  }
  /**
   * Builds the task of a link. It uses no object spread: it runs for every link of every page, and spread costs 3 % of
   * the CPU time of a crawl.
   */
  function taskFor(url: string): NewTask {
    const isSameOrigin = url.startsWith(origin);
    const site = isSameOrigin ? pageSite : siteOf(url, spec.siteGrouping);
    const kind = isSameOrigin ? input.ownKind : kindOf(spec);
    const routing = routeOf(url);
    return { url, site, kind, queue: queueFor(kind, routing, spec), priority: routing.priority, depth: depth + 1 };
  }

  for (const { url, ...own } of found.wanted) {
    if (isAccepted(url)) tasks.push({ ...taskFor(url), ...own, url: requestUrl(url, own.request) });
  }
  if (linkFilter?.goesDeeperThan(depth)) {
    const inScope = linkFilter.from(pageUrl);
    for (const url of found.links) if (inScope(url) && isAccepted(url)) tasks.push(taskFor(url));
  }
  return { tasks, refused };
}
