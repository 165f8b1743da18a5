/** Submits a job: creates it, queues its first tasks, and seals it when its URLs are all in. */
import { canonicalUrl, URL_LENGTH_MOST } from "../domain/canonical-url.ts";
import { createRouter } from "../domain/route.ts";
import { siteOf } from "../domain/site.ts";
import type { NewTask } from "../domain/task.ts";
import type { Frontier, NewJob } from "../frontier/frontier.ts";
import { type JobSpec, kindOf } from "./job-spec.ts";

export type Refusal = { index: number; url: string; reason: string };

export type SubmitAnswer = {
  id: string;
  accepted: number;
  duplicates: number;
  refused: readonly Refusal[];
  /** Present when the broker was full: URLs from this index on were not taken. */
  full?: { taken: number; retryAfterMs: number };
};

type Deps = { frontier: Frontier; now: () => number };

/** As much of a URL that is too long as tells which it was. */
const SHOWN_CHARS = 200;

/** Submitting the same spec and URLs again is harmless: known URLs are duplicates. */
export async function submitJob(
  { frontier, now }: Deps,
  spec: JobSpec,
  urls: readonly string[],
): Promise<SubmitAnswer> {
  await frontier.createJob(newJobFrom(spec, now()));
  const { tasks, indexes, refused } = firstTasks(spec, urls);
  const answer = await frontier.enqueue(spec.id, tasks);
  if (answer.full === undefined) await frontier.seal(spec.id);
  const late = answer.refused.map(({ index, reason }) => {
    const at = indexes[index] ?? index;
    return { index: at, url: urls[at] ?? "", reason };
  });
  return {
    id: spec.id,
    accepted: answer.queued,
    duplicates: answer.duplicates,
    refused: [...refused, ...late].sort((one, other) => one.index - other.index),
    ...(answer.full === undefined
      ? {}
      : { full: { ...answer.full, taken: indexes[answer.full.taken] ?? urls.length } }),
  };
}

/** The job as the frontier takes it. */
export function newJobFrom(spec: JobSpec, now: number): NewJob {
  const { pages, seconds } = spec.limits;
  return {
    id: spec.id,
    name: spec.name,
    queue: spec.queue,
    priority: spec.priority,
    policy: spec.politeness.policy,
    sites: spec.politeness.sites,
    robots: spec.politeness.robots,
    retries: spec.retries,
    limits: {
      ...(pages === undefined ? {} : { pages }),
      ...(seconds === undefined ? {} : { deadlineAt: now + seconds * 1000 }),
    },
    dedup: spec.dedup,
    spec,
  };
}

/** URLs as tasks; `indexes` leads from a task back to its URL. */
export function firstTasks(
  spec: JobSpec,
  urls: readonly string[],
): { tasks: NewTask[]; indexes: number[]; refused: Refusal[] } {
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

/** Of a long one the beginning: nobody is to get megabytes back, a thousand times over. */
function refusalOf(raw: string, index: number): Refusal {
  const isLong = raw.length > URL_LENGTH_MOST;
  const reason = isLong
    ? `longer than ${URL_LENGTH_MOST} characters`
    : "not an absolute http(s) URL without credentials";
  return { index, url: isLong ? `${raw.slice(0, SHOWN_CHARS)}…` : raw, reason };
}
