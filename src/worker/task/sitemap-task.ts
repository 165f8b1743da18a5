/**
 * Runs a task that reads a sitemap. A sitemap yields tasks for pages, an index yields tasks for sitemaps, and a
 * robots.txt yields tasks for the sitemaps that it names. The file is fetched as a page is: the rate of its site, robots
 * rules, retries and dead letters apply.
 *
 * A sitemap may have more entries than fit into one settlement. They are queued in batches while the file is parsed, and
 * the task is settled last. If the worker crashes in between, the task runs again, and the entries that were queued
 * count as duplicates.
 */
import { discover } from "../../discover/discover.ts";
import {
  createRecencyTest,
  type createSitemapReader,
  MAX_SITEMAP_BYTES,
  type SitemapEntry,
} from "../../discover/sitemap/read-sitemap.ts";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import { parseSince } from "../../domain/date-range.ts";
import { sessionNumber } from "../../domain/session-spec.ts";
import { originOf } from "../../domain/site.ts";
import { isRobotsTask, type SitemapCarry, sitemapTask } from "../../domain/sitemap-task.ts";
import type { NewTask } from "../../domain/task.ts";
import { pageUrlOf } from "../../domain/task-url.ts";
import type { FetchOutcome } from "../../fetch/fetcher.ts";
import type { RobotsAnswer, RobotsPolicy } from "../../fetch/robots.ts";
import { claimOf, type Frontier, type Grant } from "../../frontier/frontier.ts";
import type { JobPlan } from "./plan.ts";
import { kindAt, type ScriptedSites } from "./scripted-sites.ts";
import { ended, fetchFailed, NO_TALLY, NOTHING_EXTRACTED, type TaskResult, writeOf } from "./task-result.ts";

export type SitemapTaskDeps = {
  frontier: Pick<Frontier, "discover">;
  readSitemap: ReturnType<typeof createSitemapReader>;
};

type SitemapTask = {
  deps: SitemapTaskDeps & { robots: RobotsPolicy; scriptedSites: ScriptedSites };
  options: { maxRedirects: number };
  grant: Grant;
  plan: JobPlan;
  signal: AbortSignal;
  /** Fetches the file, in a session if the job has sessions. */
  fetch(bodyBytes: number): Promise<FetchOutcome>;
};
type Rules = Extract<RobotsAnswer, { kind: "rules" }>;
type Fetched<Kind> = FetchOutcome & { kind: Kind };

/** An index may name other index files, up to this many levels. The protocol allows one level. */
const MAX_LEVEL = 3;
/** More sitemaps of one robots.txt are refused. */
const MAX_NAMED = 1_000;

export async function runSitemapTask(task: SitemapTask, robots: Rules): Promise<TaskResult> {
  if (isRobotsTask(task.grant)) return readRobots(task, robots);
  const outcome = await task.fetch(MAX_SITEMAP_BYTES);
  switch (outcome.kind) {
    case "page":
      return readFile(task, outcome, robots);
    case "redirect":
      return redirected(task, outcome);
    case "dead":
    case "retry":
      return fetchFailed(task.grant, outcome);
    case "unchanged":
      throw new Error(`${task.grant.url}: reported as unchanged, but the request was not conditional`);
  }
}

/** Queues the sitemaps that robots.txt names. If it names none, queues `/sitemap.xml`. */
async function readRobots(task: SitemapTask, robots: Rules): Promise<TaskResult> {
  const { deps, grant, plan } = task;
  const home = pageUrlOf(grant.url);
  // With politeness.robots off, no robots.txt has been read for this task.
  const known = plan.spec.politeness.robots ? robots : await deps.robots.rulesAt(home, grant.site);
  if (known.kind === "unreachable") {
    const outcome = { kind: "retry", because: "robots_unreachable", detail: known.detail } as const;
    return ended(grant, outcome, { kind: "throttled", cause: "robots" });
  }
  const named = known.sitemaps.flatMap((text) => canonicalUrl(text, home) ?? []);
  const urls = named.length > 0 ? named.slice(0, MAX_NAMED) : [`${originOf(home)}/sitemap.xml`];
  const tasks = urls.map((url) => sitemapTask(url, plan.spec, plan.routeOf(url), { carry: { home, level: 0 } }));
  return done(task, { discovered: tasks, refused: named.length - Math.min(named.length, MAX_NAMED) });
}

async function readFile(task: SitemapTask, { page, body }: Fetched<"page">, robots: Rules): Promise<TaskResult> {
  const { deps, grant, plan } = task;
  const { home, level } = carryOf(grant);
  const isRecent = createRecencyTest(sinceOf(plan));
  const isFileInScope = plan.sitemapScope.files(home);
  const pagesFilter = { from: () => plan.sitemapScope.pages(home), goesDeeperThan: () => true };
  const ownKind = await kindAt(home, plan.spec, deps.scriptedSites);
  const counts = { refused: 0, isHeld: true };
  let isNestedTooDeep = false;

  function pageTasks(entries: readonly SitemapEntry[]): NewTask[] {
    const { tasks, refused } = discover({
      ...{ spec: plan.spec, linkFilter: pagesFilter, pageUrl: home, ownKind, depth: 0 },
      found: { links: entries.map(({ url }) => url), wanted: [] },
      ...{ isAllowed: robots.allows, routeOf: plan.routeOf, maxLinks: Number.POSITIVE_INFINITY },
    });
    counts.refused += refused;
    return tasks;
  }

  function fileTasks(entries: readonly SitemapEntry[]): NewTask[] {
    const carry = { home, level: level + 1 };
    // A file of the same origin is in scope, even if robots.txt of another host names the index.
    const files = entries.filter(({ url }) => originOf(url) === originOf(page.url) || isFileInScope(url));
    return files.map(({ url }) => sitemapTask(url, plan.spec, plan.routeOf(url), { carry }));
  }

  const end = await deps.readSitemap({
    body,
    url: page.url,
    async onEntries(entries, kind) {
      task.signal.throwIfAborted();
      if (kind === "index" && level >= MAX_LEVEL) isNestedTooDeep = true;
      if (!counts.isHeld || isNestedTooDeep) return;
      const recent = entries.filter(isRecent);
      const tasks = kind === "index" ? fileTasks(recent) : pageTasks(recent);
      if (tasks.length > 0) counts.isHeld = await deps.frontier.discover(claimOf(grant), tasks);
    },
  });
  if (isNestedTooDeep) {
    const detail = `the index is nested in ${level} other index files; at most ${MAX_LEVEL} levels are read`;
    return ended(grant, { kind: "dead", because: "bad_sitemap", status: page.status, detail }, { kind: "ok" });
  }
  if (end.kind === "bad") {
    const detail = end.entries === 0 ? end.detail : `${end.detail}; its first ${end.entries} entries were read`;
    return ended(grant, { kind: "dead", because: end.because, status: page.status, detail }, { kind: "ok" });
  }
  const write = writeOf(task, page, NOTHING_EXTRACTED);
  return { ...done(task, { discovered: [], refused: counts.refused }), write };
}

/** The target is read as a sitemap too. It must be in the link scope, unless the job names the sitemap. */
function redirected(task: SitemapTask, { to, page }: Fetched<"redirect">): TaskResult {
  const { grant, plan, options } = task;
  const redirects = grant.redirects + 1;
  const { sessions } = plan.spec;
  const isBack = to === pageUrlOf(grant.url);
  // In a session, the response may have set a cookie that the next request needs.
  if ((isBack && sessions === undefined) || redirects > options.maxRedirects) {
    const detail = `stopped after ${redirects} redirects; the next one is to ${to}`;
    return ended(grant, { kind: "dead", because: "redirect_loop", status: page.status, detail }, { kind: "ok" });
  }
  const carry = carryOf(grant);
  const isSameOrigin = originOf(to) === originOf(grant.url);
  const mayFollow = grant.depth === 0 || isSameOrigin || plan.sitemapScope.files(carry.home)(to);
  const next = sitemapTask(to, plan.spec, plan.routeOf(to), {
    ...{ carry, redirects },
    ...(isBack ? { mark: `again-${redirects}` } : {}),
    ...(sessions === undefined ? {} : { session: sessionNumber(sessions, grant) }),
  });
  const discovered = mayFollow ? [next] : [];
  const write = writeOf(task, page, NOTHING_EXTRACTED);
  return { ...done(task, { discovered, refused: mayFollow ? 0 : 1 }), write };
}

/** A sitemap that the job names has no carry: the scope is that of its own URL. */
function carryOf({ url, carry }: Pick<Grant, "url" | "carry">): SitemapCarry {
  return (carry as SitemapCarry | undefined) ?? { home: pageUrlOf(url), level: 0 };
}

function sinceOf({ spec, submittedAt = 0 }: JobPlan): number | undefined {
  return spec.sitemaps?.since === undefined ? undefined : parseSince(spec.sitemaps.since, submittedAt);
}

function done(
  { grant }: SitemapTask,
  { discovered, refused }: { discovered: readonly NewTask[]; refused: number },
): TaskResult {
  const result = ended(grant, { kind: "done" }, { kind: "ok" });
  return { ...result, settlement: { ...result.settlement, discovered, refusedLinks: refused, tally: NO_TALLY } };
}
