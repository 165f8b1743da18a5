/** The first tasks of a job, from the entries it was submitted with. */
import { canonicalUrl, MAX_URL_LENGTH } from "../domain/canonical-url.ts";
import { type JobSpec, kindOf } from "../domain/job-spec.ts";
import type { BodySettings } from "../domain/request.ts";
import { createRouter } from "../domain/route.ts";
import { originOf, siteOf } from "../domain/site.ts";
import { isSitemapTask, robotsUrlOf, sitemapTask } from "../domain/sitemap-task.ts";
import type { NewTask } from "../domain/task.ts";
import { requestUrl } from "../domain/task-url.ts";
import { type ReadEntry, readEntry, requestProblem } from "./url-entry.ts";

/** A URL that cannot be fetched, with its position in the list. */
export type Refusal = { index: number; url: string; reason: string };

/** `indexes[n]` is the position in the list of the URL of `tasks[n]`. */
export type PreparedUrls = { tasks: NewTask[]; indexes: number[]; refused: Refusal[] };

/** The number of characters of a too long URL that a refusal contains. */
const SHOWN_CHARS = 200;

/** `settings`: undefined if another process checks the sizes of bodies. */
export function firstTasks(
  spec: JobSpec,
  entries: readonly string[],
  settings: BodySettings | undefined,
): PreparedUrls {
  const tasks: NewTask[] = [];
  const indexes: number[] = [];
  const refused: Refusal[] = [];
  const routeOf = createRouter(spec);
  const kind = kindOf(spec);
  entries.forEach((entry, index) => {
    const read = readEntry(entry);
    const request = "request" in read ? read.request : undefined;
    const url = "problem" in read ? undefined : canonicalUrl(read.url);
    const problem = request && settings && requestProblem(request, settings);
    if (url !== undefined && problem !== undefined) {
      refused.push({ index, url, reason: problem });
      return;
    }
    if (url === undefined) {
      refused.push(refusalOf(read, index));
      return;
    }
    indexes.push(index);
    const site = siteOf(url, spec.siteGrouping);
    const task = { url, site, kind, ...routeOf(url), depth: 0 };
    if ("isSitemap" in read) {
      tasks.push(sitemapTask(isSiteUrl(url) ? robotsUrlOf(url) : url, spec, routeOf(url)));
      return;
    }
    tasks.push(request === undefined ? task : { ...task, url: requestUrl(url, request), request });
  });
  return { tasks, indexes, refused };
}

/**
 * The tasks that read the sitemaps of these tasks' sites, if the job asks for them: one for each robots.txt that is not
 * in `known`.
 */
export function robotsTasks(spec: JobSpec, tasks: readonly NewTask[], known: ReadonlySet<string>): NewTask[] {
  if (spec.sitemaps?.fromRobots !== true) return [];
  const routeOf = createRouter(spec);
  const files = new Set(tasks.filter((task) => !isSitemapTask(task)).map(({ url }) => robotsUrlOf(url)));
  return [...files].filter((url) => !known.has(url)).map((url) => sitemapTask(url, spec, routeOf(url)));
}

/** A URL without a path names a site. */
function isSiteUrl(url: string): boolean {
  return url === `${originOf(url)}/`;
}

/** The refusal of a URL. A URL that is too long is truncated, because a response may contain a thousand of them. */
function refusalOf(read: ReadEntry, index: number): Refusal {
  const { url } = read;
  const isLong = url.length > MAX_URL_LENGTH;
  const shown = isLong ? `${url.slice(0, SHOWN_CHARS)}…` : url;
  if ("problem" in read) return { index, url: shown, reason: read.problem };
  const reason = isLong
    ? `longer than ${MAX_URL_LENGTH} characters`
    : "not an absolute http(s) URL without credentials";
  return { index, url: shown, reason };
}
