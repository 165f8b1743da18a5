/**
 * Tasks that read sitemaps. They count as continuations of the page that led to them, so that they do not use up the
 * page limit of a job.
 */
import type { JobSpec } from "./job-spec.ts";
import type { Routing } from "./route.ts";
import { originOf, siteOf } from "./site.ts";
import type { NewTask } from "./task.ts";
import { pageUrlOf, stepOf, stepUrl } from "./task-url.ts";

/** `home`: the URL whose link scope applies to the entries. `level`: the number of index files above this one. */
export type SitemapCarry = { home: string; level: number };

/** `redirects`: 1 for a task that no redirect leads to. `mark` distinguishes a task that fetches the sitemap again. */
type SitemapTaskOptions = { carry?: SitemapCarry; redirects?: number; mark?: string; session?: number };

/**
 * `url` is the canonical URL of a sitemap, or the robots.txt that names the sitemaps of its host. A sitemap that the job
 * names has no `carry` and depth 0.
 */
export function sitemapTask(
  url: string,
  { siteGrouping }: Pick<JobSpec, "siteGrouping">,
  routing: Routing,
  { carry, redirects = 1, mark, session }: SitemapTaskOptions = {},
): NewTask {
  return {
    url: stepUrl(url, "sitemap", mark),
    site: siteOf(url, siteGrouping),
    // A browser would show a sitemap as a page.
    kind: "fetch",
    queue: routing.queue,
    priority: routing.priority,
    // Headers with secrets are sent to every task of depth 0, and a robots.txt or an index may name any host.
    depth: carry === undefined ? 0 : 1,
    redirects,
    ...(carry === undefined ? {} : { carry }),
    ...(session === undefined ? {} : { request: { method: "GET", session } }),
  };
}

/** The robots.txt of the host of a URL. */
export function robotsUrlOf(url: string): string {
  return `${originOf(url)}/robots.txt`;
}

export function isSitemapTask({ url }: Pick<NewTask, "url">): boolean {
  return stepOf(url) === "sitemap";
}

/** Whether the task reads the sitemaps that a robots.txt names. */
export function isRobotsTask({ url }: Pick<NewTask, "url">): boolean {
  const page = pageUrlOf(url);
  return page === robotsUrlOf(page);
}
