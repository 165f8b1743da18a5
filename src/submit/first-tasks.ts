/** The first tasks of a job, from the URLs it was submitted with. */
import { canonicalUrl, MAX_URL_LENGTH } from "../domain/canonical-url.ts";
import { type JobSpec, kindOf } from "../domain/job-spec.ts";
import { createRouter } from "../domain/route.ts";
import { siteOf } from "../domain/site.ts";
import type { NewTask } from "../domain/task.ts";

/** A URL that cannot be fetched, with its position in the list. */
export type Refusal = { index: number; url: string; reason: string };

/** `indexes[n]` is the position in the list of the URL of `tasks[n]`. */
export type PreparedUrls = { tasks: NewTask[]; indexes: number[]; refused: Refusal[] };

/** The number of characters of a too long URL that a refusal contains. */
const SHOWN_CHARS = 200;

export function firstTasks(spec: JobSpec, urls: readonly string[]): PreparedUrls {
  const tasks: NewTask[] = [];
  const indexes: number[] = [];
  const refused: Refusal[] = [];
  const routeOf = createRouter(spec);
  const kind = kindOf(spec);
  urls.forEach((raw, index) => {
    const url = canonicalUrl(raw.trim());
    if (url === undefined) {
      refused.push(refusalOf(raw, index));
      return;
    }
    indexes.push(index);
    const site = siteOf(url, spec.siteGrouping);
    tasks.push({ url, site, kind, ...routeOf(url), depth: 0 });
  });
  return { tasks, indexes, refused };
}

/** The refusal of a URL. A URL that is too long is truncated, because a response may contain a thousand of them. */
function refusalOf(raw: string, index: number): Refusal {
  const isLong = raw.length > MAX_URL_LENGTH;
  const reason = isLong
    ? `longer than ${MAX_URL_LENGTH} characters`
    : "not an absolute http(s) URL without credentials";
  return { index, url: isLong ? `${raw.slice(0, SHOWN_CHARS)}…` : raw, reason };
}
