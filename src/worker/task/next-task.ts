/**
 * Results that pass a page on to another task: the target of a redirect, the same page in a browser, or parsing on
 * another queue. Such a task continues the page of its parent, so it does not count against the page limit of the job.
 */
import { queueFor } from "../../domain/job-spec.ts";
import { offlineSite } from "../../domain/offline-site.ts";
import type { Page } from "../../domain/page.ts";
import { requestAfterRedirect, type TaskRequest } from "../../domain/request.ts";
import { sessionNumber } from "../../domain/session-spec.ts";
import { originOf, siteOf } from "../../domain/site.ts";
import type { NewTask, TaskKind } from "../../domain/task.ts";
import { againUrl, pageUrlOf, requestUrl, stepOf, stepUrl, withoutStep } from "../../domain/task-url.ts";
import type { FetchOutcome } from "../../fetch/fetcher.ts";
import { claimOf, type Grant, type Settlement } from "../../frontier/frontier.ts";
import type { SpooledPage } from "../../store/bodies/bodies.ts";
import type { JobPlan } from "./plan.ts";
import { ended, NO_TALLY, NOTHING_EXTRACTED, siteSignal, type TaskResult, writeOf } from "./task-result.ts";

type Task = { grant: Grant; plan: JobPlan };

/** The `carry` of a parse task: the id of the task that fetched the page, and the `carry` of that task. */
export type ParseCarry = { fetchedBy: string; isRendered?: true; carry?: unknown; session?: number };

/**
 * A redirect becomes a task of its own: the target is fetched once however many URLs redirect to it, and the rate limit
 * of its site applies without a special case. From a start URL, every redirect is followed. From any other page, a
 * redirect is followed only if the job would also follow a link to the target.
 */
export function redirected(
  task: Task,
  { to, page }: FetchOutcome & { kind: "redirect" },
  maxRedirects: number,
): TaskResult {
  const { grant, plan } = task;
  const redirects = grant.redirects + 1;
  const next = afterRedirect(task, to, page.status);
  if (next.url === withoutStep(grant.url) || redirects > maxRedirects) {
    const detail = `stopped after ${redirects} redirects; the next one is to ${to}`;
    return ended(grant, { kind: "dead", because: "redirect_loop", status: page.status, detail }, { kind: "ok" });
  }
  const mayFollow = grant.depth === 0 || plan.linkFilter === undefined || plan.linkFilter.from(grant.url)(to);
  return passedTo(task, page, mayFollow ? [next] : [], mayFollow ? 0 : 1);
}

/** The task for the target of a redirect. */
function afterRedirect(task: Task, to: string, status: number): NewTask {
  const { grant, plan } = task;
  const isSameOrigin = originOf(to) === originOf(grant.url);
  const request = requestAfterRedirect(grant.request, status, isSameOrigin);
  const { sessions } = plan.spec;
  if (sessions === undefined) return continuation(task, to, grant.kind, request);
  // A page may set a cookie and redirect back. Then the first page must be fetched again, although it was seen.
  const redirectedFrom = grant.request?.redirectedFrom ?? pageUrlOf(grant.url);
  const next = continuation(task, to, grant.kind, {
    ...{ method: "GET", ...request },
    ...{ redirectedFrom, session: sessionNumber(sessions, grant) },
  });
  return to === redirectedFrom ? { ...next, url: againUrl(next.url, grant.redirects + 1) } : next;
}

/** The page needs a browser: a task on the render queue fetches it again. */
export function renderLater(task: Task, page: Page): TaskResult {
  return passedTo(task, page, [renderTask(task)], 0);
}

/** The site has blocked the page, and the next step is the browser. */
export function renderAfterBlock(task: Task, outcome: FetchOutcome & { kind: "retry" }): TaskResult {
  const settlement = { ...done(task.grant, [renderTask(task)], 0), site: siteSignal(outcome) };
  return { settlement, write: undefined, body: undefined, pictures: {}, passedOn: `${outcome.detail}; next: browser` };
}

function renderTask(task: Task): NewTask {
  return continuation(task, stepUrlOf(task, "render"), "render", task.grant.request);
}

/**
 * Spools the page for a parse task on `queue`. The parse task is one priority more urgent than the page, so that
 * spooled pages do not accumulate when workers serve both queues.
 */
export function parseLater(task: Task, { page, body }: SpooledPage, queue: string): TaskResult {
  const { grant, plan } = task;
  const name = { jobId: grant.jobId, taskId: grant.taskId };
  const carry: ParseCarry = {
    fetchedBy: grant.taskId,
    ...(grant.kind === "render" ? { isRendered: true } : {}),
    ...(plan.spec.sessions === undefined ? {} : { session: sessionNumber(plan.spec.sessions, grant) }),
    ...(grant.carry === undefined ? {} : { carry: grant.carry }),
  };
  const parse: NewTask = {
    url: stepUrlOf(task, "parse"),
    site: offlineSite(siteOf(grant.url, plan.spec.siteGrouping)),
    kind: "parse",
    queue,
    priority: Math.max(0, plan.routeOf(pageUrlOf(grant.url)).priority - 1),
    depth: grant.depth,
    redirects: grant.redirects + 1,
    carry,
    ...(grant.handler === undefined ? {} : { handler: grant.handler }),
  };
  const settlement = done(grant, [parse], 0);
  return { settlement, write: undefined, body: undefined, pictures: {}, spooled: { name, page, body } };
}

/**
 * The URL of the next step for this page. The entries of a shared dedup scope expire, so a page may be fetched again.
 * Each fetch then gets its own step URL.
 */
function stepUrlOf({ grant, plan }: Task, step: "render" | "parse"): string {
  return stepUrl(grant.url, step, plan.spec.dedup.scope === "job" ? undefined : grant.taskId);
}

function continuation({ grant, plan }: Task, url: string, kind: TaskKind, request: TaskRequest | undefined): NewTask {
  const routing = plan.routeOf(pageUrlOf(url));
  return {
    url: stepOf(url) === undefined ? requestUrl(url, request) : url,
    site: siteOf(url, plan.spec.siteGrouping),
    kind,
    queue: queueFor(kind, routing, plan.spec),
    priority: routing.priority,
    depth: grant.depth,
    redirects: grant.redirects + 1,
    ...(grant.handler === undefined ? {} : { handler: grant.handler }),
    ...(grant.carry === undefined ? {} : { carry: grant.carry }),
    ...(request === undefined ? {} : { request }),
  };
}

function passedTo(task: Task, page: Page, tasks: readonly NewTask[], refusedLinks: number): TaskResult {
  const settlement = done(task.grant, tasks, refusedLinks);
  return { settlement, write: writeOf(task, page, NOTHING_EXTRACTED), body: undefined, pictures: {} };
}

function done(grant: Grant, discovered: readonly NewTask[], refusedLinks: number): Settlement {
  const outcome = { kind: "done" } as const;
  return { ...claimOf(grant), outcome, discovered, refusedLinks, site: { kind: "ok" }, tally: NO_TALLY };
}
