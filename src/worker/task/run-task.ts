/**
 * The pipeline of one task, from lease to result: robots.txt, fetch, decode, extract, discover. In a recrawl, if the
 * site reports a page as unchanged, the content extracted by an earlier crawl is reused (recrawl.ts). If other workers
 * parse the pages of a job, there are two tasks. The first checks robots.txt, fetches the page and spools it. The
 * second loads the page from the spool and continues with decode, extract and discover.
 *
 * It stores nothing except marks of scripted sites: the settler writes the result. The lease loop runs many tasks at
 * once. A crash loses only the work of this attempt, because the lease expires and the task runs again.
 */
import { discover, type FoundLinks } from "../../discover/discover.ts";
import type { Page } from "../../domain/page.ts";
import { siteOf } from "../../domain/site.ts";
import { isSitemapTask } from "../../domain/sitemap-task.ts";
import type { TaskKind } from "../../domain/task.ts";
import { pageUrlOf } from "../../domain/task-url.ts";
import type { FetchLimits, FetchOutcome, RequestCookies } from "../../fetch/fetcher.ts";
import type { RobotsAnswer, RobotsPolicy } from "../../fetch/robots.ts";
import { claimOf, type Grant, type Settlement } from "../../frontier/frontier.ts";
import { errorLocation } from "../../runtime/error-location.ts";
import type { ExtractedPage, PageInput } from "../../spider/page-reader.ts";
import type { PageSpool } from "../../store/bodies/bodies.ts";
import type { MemoryWrite } from "../../store/page-memory.ts";
import { storeLargeBodies } from "../../submit/store-large-bodies.ts";
import type { Attempt, TaskObserver } from "../observe/task-observer.ts";
import { afterBlock, findPageBlocks, forgetBlocks, type PageBlocks } from "./block-steps.ts";
import { type FetchPageDeps, fetchPage, findRevisit } from "./fetch-page.ts";
import type { HandlerErrors } from "./handler-errors.ts";
import { createHandlerRequest } from "./handler-request.ts";
import { type ParseCarry, parseLater, redirected, renderLater } from "./next-task.ts";
import type { JobPlan } from "./plan.ts";
import type { ReadBatcher } from "./read-batcher.ts";
import { emitted, isAsBefore, memoryOf, memoryOfGone, memoryOfSame, type Revisit, readBefore } from "./recrawl.ts";
import { kindAt, type ScriptedSites } from "./scripted-sites.ts";
import { cookiesOf, fetchInSession, openSession, type SessionDeps, type TaskSession } from "./session-run.ts";
import { runSitemapTask, type SitemapTaskDeps } from "./sitemap-task.ts";
import { ended, fetchFailed, messageOf, type TaskResult, tookTooLong, writeOf } from "./task-result.ts";
import { isOverTime } from "./time-limit.ts";

export type RunTaskDeps = FetchPageDeps &
  SessionDeps &
  SitemapTaskDeps & {
    robots: RobotsPolicy;
    spool: Pick<PageSpool, "get">;
    decode(body: Buffer, contentType: string | undefined): string;
    /** Whether a page has no content until its scripts have run. */
    needsBrowser(html: string): boolean;
    scriptedSites: ScriptedSites;
    handlerErrors: Pick<HandlerErrors, "follow">;
    readBatcher: ReadBatcher;
    /** Sends a webhook event. */
    deliver(grant: Grant, signal: AbortSignal): Promise<Pick<Settlement, "outcome" | "site">>;
  };

export type RunTaskOptions = {
  limits: Omit<FetchLimits, "bodyBytes">;
  maxLinks: number;
  maxRedirects: number;
  /** The maximum size of the extracted content that a page memory stores for one page. */
  recrawlBytes: number;
};

type NewTaskRun = {
  deps: RunTaskDeps;
  observe: TaskObserver;
  attempt: Attempt;
  options: RunTaskOptions;
  grant: Grant;
  plan: JobPlan;
  signal: AbortSignal;
};
type Task = NewTaskRun & {
  revisit: Revisit | undefined;
  /** The cookies of the session that fetched the page. */
  cookies?: RequestCookies | undefined;
  /** Undefined: the job has no steps for blocks. */
  blocked?: PageBlocks | undefined;
};
type FetchedPage = FetchOutcome & { kind: "page" };
type IsAllowed = (url: string) => boolean;

export async function runTask(run: NewTaskRun): Promise<TaskResult> {
  const isSitemap = isSitemapTask(run.grant);
  // A sitemap is read again in every recrawl: it may list new pages.
  const task = { ...run, revisit: isSitemap ? undefined : await findRevisit(run) };
  if (task.grant.kind === "parse") return parsePage(task);
  if (task.grant.kind === "deliver") return deliverEvent(task);
  const robots = await checkRobots(task);
  if (robots.kind === "unreachable") {
    // The whole site backs off, so that its other tasks do not use up their retries on the same failure.
    const outcome = { kind: "retry", because: "robots_unreachable", detail: robots.detail } as const;
    return ended(task.grant, outcome, { kind: "throttled", cause: "robots" });
  }
  if (!robots.allows(pageUrlOf(task.grant.url))) return ended(task.grant, { kind: "refused", because: "robots" });
  if (isSitemap) return runSitemapTask({ ...task, fetch: (bodyBytes) => fetchSitemap(task, bodyBytes) }, robots);
  const blocked = run.plan.spec.blocks === undefined ? undefined : await findPageBlocks(run);
  const isReplaced = blocked?.taken.at(-1) === "session";
  const session = run.plan.spec.sessions === undefined ? undefined : await openSession(task, { isReplaced });
  const cookies = session === undefined ? undefined : cookiesOf(session);
  const fetching = blocked === undefined ? task : { ...task, blocked };
  const outcome = session === undefined ? await fetchPage(fetching) : await fetchWith(session, fetching);
  if (blocked !== undefined) {
    if (outcome.kind === "retry" && outcome.block !== undefined) return afterBlock(run, outcome, blocked, session);
    if (outcome.kind !== "retry") await forgetBlocks(run, blocked);
  }
  switch (outcome.kind) {
    case "page":
      return pageFetched({ ...task, cookies }, outcome, robots.allows);
    case "unchanged":
      return reusePage(task, outcome.page, robots.allows);
    case "redirect":
      return { ...redirected(task, outcome, task.options.maxRedirects), memory: memoryIfGone(task) };
    case "dead":
    case "retry": {
      const isGone = outcome.status === 404 || outcome.status === 410;
      return { ...fetchFailed(task.grant, outcome), memory: isGone ? memoryIfGone(task) : undefined };
    }
  }
}

async function fetchSitemap(task: Task, bodyBytes: number): Promise<FetchOutcome> {
  const opened = await openSession(task, {});
  const limited = { ...task, bodyBytes };
  return opened === undefined ? fetchPage(limited) : fetchWith(opened, limited);
}

/** Fetches the page in a session. */
function fetchWith(session: TaskSession, task: Task & { bodyBytes?: number }): Promise<FetchOutcome> {
  const { deps, options, grant, plan, signal } = task;
  return fetchInSession(session, {
    ...{ deps, grant, plan, signal },
    sendIn: (cookies) => createHandlerRequest({ deps, options, cookies, obeysRobots: false, grant, plan, signal }),
    fetch: (cookies) => fetchPage({ ...task, cookies }),
  });
}

async function deliverEvent({ deps, observe, attempt, grant, signal }: Task): Promise<TaskResult> {
  const { outcome, site } =
    observe.trace === undefined
      ? await deps.deliver(grant, signal)
      : await observe.trace(attempt, "deliver", grant.site, () => deps.deliver(grant, signal));
  return ended(grant, outcome, site);
}

async function checkRobots({ deps, observe, attempt, grant, plan, signal }: Task): Promise<RobotsAnswer> {
  if (!plan.spec.politeness.robots) return EVERYTHING_ALLOWED;
  const url = pageUrlOf(grant.url);
  // Usually the rules are cached. Only a request for robots.txt takes time and gets a span.
  if (!grant.mustFetchRobots) return deps.robots.rulesAt(url, grant.site, undefined);
  const fetchRules = () => deps.robots.rulesAt(url, grant.site, { signal });
  return observe.trace === undefined ? fetchRules() : observe.trace(attempt, "robots", grant.site, fetchRules);
}

const EVERYTHING_ALLOWED: RobotsAnswer = { kind: "rules", allows: () => true, crawlDelayMs: 0, sitemaps: [] };

function memoryIfGone(task: Task): MemoryWrite | undefined {
  return task.revisit === undefined ? undefined : memoryOfGone(task, task.revisit, task.deps.clock.now());
}

async function pageFetched(task: Task, outcome: FetchedPage, isAllowed: IsAllowed): Promise<TaskResult> {
  const { deps, grant, plan } = task;
  // An open tab uses the memory of the browser, so it is read at once.
  const turn = outcome.open === undefined ? deps.readBatcher.turn(grant) : undefined;
  if (turn !== undefined) await turn;
  if (needsRendering(task, outcome)) {
    // From now on, links of this site are queued as render tasks.
    await deps.scriptedSites.mark(grant.site);
    return renderLater(task, outcome.page);
  }
  if (plan.spec.parse !== undefined && isPortable(outcome)) return parseLater(task, outcome, plan.spec.parse.queue);
  return readPage(task, outcome, isAllowed).finally(outcome.open?.close);
}

function needsRendering({ deps, grant, plan }: Task, { page, body }: FetchedPage): boolean {
  if (plan.spec.render !== "auto" || grant.kind !== "fetch" || !/html/i.test(page.contentType ?? "")) return false;
  return deps.needsBrowser(deps.decode(body, page.contentType));
}

/** Whether another worker can parse the page. An open tab and pictures exist only in this process. */
function isPortable({ pictures = {}, open }: FetchedPage): boolean {
  return Object.keys(pictures).length === 0 && open === undefined;
}

const NOT_SPOOLED = {
  missing:
    "the page is not in TRAWL_BODIES of this worker: set the same TRAWL_BODIES for all workers, then replay the task",
  damaged: "the page in TRAWL_BODIES is damaged and cannot be replayed: check the disk, then submit the URL again",
} as const;

/** Loads the page from the spool, and continues as if this worker had just fetched it. */
async function parsePage(task: Task): Promise<TaskResult> {
  const { deps, grant, plan } = task;
  const { fetchedBy, isRendered, carry, session: number } = grant.carry as ParseCarry;
  const name = { jobId: grant.jobId, taskId: fetchedBy };
  const spooled = await deps.spool.get(name);
  if (typeof spooled === "string") {
    return ended(grant, { kind: "dead", because: "body_missing", detail: NOT_SPOOLED[spooled] });
  }
  const isAllowed = plan.spec.politeness.robots ? await deps.robots.knownAt(spooled.page.url) : () => true;
  const kind: TaskKind = isRendered ? "render" : "fetch";
  // The handler sends its requests in the session that fetched the page.
  const site = siteOf(spooled.page.url, plan.spec.siteGrouping);
  const session = await openSession({ ...task, grant: { ...grant, site } }, number === undefined ? {} : { number });
  const cookies = session === undefined ? undefined : cookiesOf(session);
  const asFetched = { ...task, cookies, grant: { ...grant, url: spooled.page.url, kind, carry } };
  const result = await readPage(asFetched, { kind: "page", ...spooled }, isAllowed);
  return result.settlement.outcome.kind === "done" ? { ...result, parsedPage: name } : result;
}

async function readPage(
  task: Task,
  { page, body, pictures = {}, open }: FetchedPage,
  isAllowed: IsAllowed,
): Promise<TaskResult> {
  const { deps, options, grant, plan, signal, revisit } = task;
  let extracted: ExtractedPage;
  try {
    extracted = await extract(task, { page, html: deps.decode(body, page.contentType), tab: open?.tab });
  } catch (error) {
    if (isOverTime(signal)) return tookTooLong(grant, page, signal.reason);
    if (signal.aborted) throw error;
    const location = plan.spec.spider === undefined ? undefined : errorLocation(error);
    const detail = location === undefined ? messageOf(error) : `${messageOf(error)} at ${location}`;
    // A browser that crashes closes the tabs of all handlers, and most handlers did not cause the crash. Whether the
    // browser has crashed is certain only after the tab is closed.
    await open?.close();
    if (open?.isGone()) return ended(grant, { kind: "retry", because: "render_failed", detail }, { kind: "ok" });
    return ended(grant, { kind: "dead", because: "handler_failed", status: page.status, detail }, { kind: "ok" });
  }
  if (extracted.refresh !== undefined) {
    const redirect = { kind: "redirect", to: extracted.refresh, page } as const;
    return { ...redirected(task, redirect, options.maxRedirects), memory: memoryIfGone(task) };
  }
  const kept = { body: plan.spec.keep.bodies ? body : undefined, pictures };
  if (revisit === undefined)
    return { ...(await done(task, { page, extracted, found: extracted, isAllowed })), ...kept };
  const unchanged = isAsBefore(revisit, extracted);
  const stored = emitted(revisit, extracted, unchanged);
  const isRendered = grant.kind === "render";
  const memory = memoryOf(task, revisit, { page, extracted, isRendered }, options.recrawlBytes);
  return {
    ...(await done(task, { page, extracted: stored, found: extracted, isAllowed, unchanged })),
    ...kept,
    memory,
  };
}

/** Reads the page with the job's rules or its spider. Rejects with the error of the handler. */
async function extract(task: Task, input: Omit<PageInput, "task" | "signal">): Promise<ExtractedPage> {
  const { deps, observe, attempt } = task;
  observe.reading?.(attempt);
  const startedAt = deps.clock.now();
  try {
    if (observe.trace === undefined) return await readWith(task, input);
    return await observe.trace(attempt, "extract", attempt.grant.site, async () => readWith(task, input));
  } finally {
    observe.read?.(attempt, { startedAt, endedAt: deps.clock.now() });
  }
}

function readWith(
  { deps, options, attempt, grant, plan, cookies, signal }: Task,
  input: Omit<PageInput, "task" | "signal">,
) {
  if (plan.spec.spider === undefined) return plan.read({ ...input, task: grant, signal });
  return deps.handlerErrors.follow(attempt.grant, signal, (own) => {
    const send = createHandlerRequest({ deps, options, cookies, obeysRobots: true, grant, plan, signal: own });
    return plan.read({ ...input, task: grant, signal: own, send });
  });
}

/** The site reports that the page has not changed, so its records and links are the ones extracted before. */
async function reusePage(task: Task, page: Page, isAllowed: IsAllowed): Promise<TaskResult> {
  const { revisit } = task;
  if (revisit === undefined) throw new Error(`${page.url}: reported as unchanged, but the request was not conditional`);
  const found = readBefore(revisit);
  const extracted = emitted(revisit, found, true);
  const result = await done(task, { page, extracted, found, isAllowed, unchanged: true });
  return { ...result, memory: memoryOfSame(task, revisit) };
}

type ReadPage = {
  page: Page;
  /** The content to store. */
  extracted: ExtractedPage;
  /** The links to follow. */
  found: FoundLinks;
  isAllowed: IsAllowed;
  unchanged?: boolean;
};

async function done(task: Task, { page, extracted, found, isAllowed, unchanged }: ReadPage): Promise<TaskResult> {
  const { options, grant, plan } = task;
  const { spec, linkFilter, routeOf } = plan;
  const discovery = discover({
    spec,
    linkFilter,
    found,
    isAllowed,
    routeOf,
    pageUrl: page.url,
    ownKind: await kindAt(page.url, spec, task.deps.scriptedSites),
    depth: grant.depth,
    maxLinks: options.maxLinks,
  });
  const { records, invalid } = extracted;
  const { tasks } = discovery;
  // Only spiders follow links with a body.
  const discovered =
    spec.spider === undefined ? tasks : await storeLargeBodies(task.deps.requestBodies, grant.jobId, tasks);
  return {
    settlement: {
      ...claimOf(grant),
      outcome: { kind: "done" },
      discovered,
      refusedLinks: discovery.refused,
      site: { kind: "ok" },
      tally: { pages: 1, records: records.length, invalid: invalid.length, bytes: page.bodyBytes },
    },
    write: writeOf(task, page, extracted, unchanged),
    body: undefined,
    pictures: {},
  };
}
