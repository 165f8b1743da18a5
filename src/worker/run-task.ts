/**
 * The chain, one task from lease to result: robots.txt -> fetch -> decode -> read -> discover; in a recrawl, a page that
 * the site says is unchanged is taken over as it was read before (recrawl.ts). Where a job's pages are
 * parsed by other workers it is two: robots.txt -> fetch -> parcel, and parcel -> decode -> read -> discover. It changes
 * nothing outside: the settler writes what it returns. Called by the lease loop, many at once; a crash inside loses
 * nothing but the work, since the lease expires.
 */
import { discover, type Found } from "../discover/discover.ts";
import { offlineSite } from "../domain/offline-site.ts";
import type { Page } from "../domain/page.ts";
import { siteOf } from "../domain/site.ts";
import { pageUrlOf, stepUrl } from "../domain/step-url.ts";
import type { NewTask, TaskKind } from "../domain/task.ts";
import type { FetchLimits, FetchOutcome, Pictures } from "../fetch/fetcher.ts";
import type { RobotsAnswer, RobotsPolicy } from "../fetch/robots.ts";
import { claimOf, type Grant, type Settlement, type Tally, type TaskOutcome } from "../frontier/frontier.ts";
import { oneLine } from "../runtime/one-line.ts";
import type { Parcel, ParcelName, Parcels } from "../store/bodies/bodies.ts";
import type { MemoryWrite } from "../store/page-memory.ts";
import type { PageWrite } from "../store/store.ts";
import { kindOf, queueFor } from "../submit/job-spec.ts";
import { type FetchPageDeps, fetchPage, findRevisit } from "./fetch-page.ts";
import type { JobPlan, Reading } from "./plan.ts";
import { emitted, isAsBefore, memoryOf, memoryOfGone, memoryOfSame, type Revisit, readBefore } from "./recrawl.ts";
import type { ScriptedSites } from "./scripted-sites.ts";
import { isOverTime } from "./time-limit.ts";

export type TaskResult = {
  settlement: Settlement;
  /** What the store is to keep; undefined when there is nothing. */
  write: Omit<PageWrite, "bodyRef" | "screenshotRef" | "pdfRef" | "run"> | undefined;
  /** The body, where the job keeps bodies. */
  body: Buffer | undefined;
  /** What the page looked like, where the job asked for it. */
  pictures: Pictures;
  /** The page, where another task is to parse it: there before this one is settled. */
  parcel?: Parcel & { name: ParcelName };
  /** The parcel that nobody needs once this is settled. */
  spent?: ParcelName;
  /** What a recrawl set is to remember of the page. */
  memory?: MemoryWrite | undefined;
};

export type RunTaskDeps = FetchPageDeps & {
  robots: RobotsPolicy;
  parcels: Pick<Parcels, "get">;
  decode(body: Buffer, contentType: string | undefined): string;
  /** Whether a page has no content until its scripts have run. */
  needsBrowser(html: string): boolean;
  scriptedSites: ScriptedSites;
  /** Tells somebody of another job. */
  deliver(grant: Grant, signal: AbortSignal): Promise<Pick<Settlement, "outcome" | "site">>;
};

export type RunTaskOptions = {
  limits: Omit<FetchLimits, "bodyBytes">;
  maxLinks: number;
  maxRedirects: number;
  /** Most that is remembered of what was read from one page. */
  recrawlBytes: number;
};

type NewTaskRun = { deps: RunTaskDeps; options: RunTaskOptions; grant: Grant; plan: JobPlan; signal: AbortSignal };
type Task = NewTaskRun & { revisit: Revisit | undefined };

export async function runTask(run: NewTaskRun): Promise<TaskResult> {
  const task = { ...run, revisit: await findRevisit(run) };
  if (task.grant.kind === "parse") return parsePage(task);
  if (task.grant.kind === "deliver") return deliverEvent(task);
  const robots = await askRobots(task);
  if (robots.kind === "unreachable") {
    // The whole site rests, so that its other tasks do not spend their tries on the same failure.
    const outcome = { kind: "retry", because: "robots_unreachable", detail: robots.detail } as const;
    return ended(task.grant, outcome, { kind: "throttled" });
  }
  if (!robots.allows(pageUrlOf(task.grant.url))) return ended(task.grant, { kind: "refused", because: "robots" });
  const outcome = await fetchPage(task);
  switch (outcome.kind) {
    case "page":
      if (isLackingBrowser(task, outcome)) return escalated(task, outcome.page);
      if (task.plan.spec.parse !== undefined && isPortable(outcome)) {
        return passOn(task, outcome, task.plan.spec.parse.queue);
      }
      return readPage(task, outcome, robots.allows).finally(outcome.open?.close);
    case "unchanged":
      return takenOver(task, outcome.page, robots.allows);
    case "redirect":
      return { ...redirected(task, outcome), memory: gone(task) };
    case "dead":
    case "retry": {
      const memory = outcome.status === 404 || outcome.status === 410 ? gone(task) : undefined;
      return { ...ended(task.grant, withoutUndefined(outcome), siteSignal(outcome)), memory };
    }
  }
}

async function deliverEvent({ deps, grant, signal }: Task): Promise<TaskResult> {
  const { outcome, site } = await deps.deliver(grant, signal);
  return ended(grant, outcome, site);
}

/** What becomes of a task whose job cannot be read here: a dead letter that says why, to be replayed when it can. */
export function unreadable(grant: Grant, error: Error): TaskResult {
  return ended(grant, { kind: "dead", because: "handler_failed", detail: inWords(error) });
}

/** What becomes of a task whose time is over while it waits for the web: another time may be a better one. */
export function overdue(grant: Grant, reason: Error): TaskResult {
  return ended(grant, { kind: "retry", because: "timeout", detail: reason.message });
}

async function askRobots({ deps, grant, plan, signal }: Task): Promise<RobotsAnswer> {
  if (!plan.spec.politeness.robots) return EVERYTHING_ALLOWED;
  return deps.robots.rulesAt(
    pageUrlOf(grant.url),
    grant.site,
    grant.mustAskRobots ? { slot: grant.slot, signal } : undefined,
  );
}

function gone(task: Task): MemoryWrite | undefined {
  return task.revisit === undefined ? undefined : memoryOfGone(task, task.revisit);
}

/** What a browser shows and how it looked stays with the process that has it. */
function isPortable({ pictures = {}, open }: FetchOutcome & { kind: "page" }): boolean {
  return Object.keys(pictures).length === 0 && open === undefined;
}

/** Small JSON of a task that parses what another has fetched. */
type ParseCarry = { fetchedBy: string; isRendered?: true; carry?: unknown };

/**
 * The page goes to whoever parses it. Half done goes before not begun: its task is a little more urgent than the page
 * was, so that workers that do both do not pile up pages.
 */
function passOn({ grant, plan }: Task, { page, body }: Parcel, queue: string): TaskResult {
  const { spec, routeOf } = plan;
  const name = { jobId: grant.jobId, taskId: grant.taskId };
  const carry: ParseCarry = {
    fetchedBy: grant.taskId,
    ...(grant.kind === "render" ? { isRendered: true } : {}),
    ...(grant.carry === undefined ? {} : { carry: grant.carry }),
  };
  const parse: NewTask = {
    // In a set of seen URLs that lapse, each fetch of a page has a step of its own.
    url: stepUrl(grant.url, "parse", spec.dedup.scope === "job" ? undefined : grant.taskId),
    site: offlineSite(siteOf(grant.url, spec.siteGrouping)),
    kind: "parse",
    queue,
    priority: Math.max(0, routeOf(pageUrlOf(grant.url)).priority - 1),
    depth: grant.depth,
    redirects: grant.redirects + 1,
    carry,
    ...(grant.handler === undefined ? {} : { handler: grant.handler }),
  };
  const settlement = { ...claimOf(grant), outcome: { kind: "done" }, refusedLinks: 0, site: { kind: "ok" } } as const;
  return {
    settlement: { ...settlement, discovered: [parse], tally: NOTHING },
    write: undefined,
    body: undefined,
    pictures: {},
    parcel: { name, page, body },
  };
}

const LOST = {
  missing: "the page is not in TRAWL_BODIES of this worker: all workers of a job must share it; then replay",
  damaged:
    "the page in TRAWL_BODIES is damaged, and a replay will not mend it: check the disk, then submit the URL again",
} as const;

/** The second half of a task that was passed on: from here on as if it had been fetched just now. */
async function parsePage(task: Task): Promise<TaskResult> {
  const { deps, grant, plan } = task;
  const { fetchedBy, isRendered, carry } = grant.carry as ParseCarry;
  const name = { jobId: grant.jobId, taskId: fetchedBy };
  const parcel = await deps.parcels.get(name);
  if (typeof parcel === "string") return ended(grant, { kind: "dead", because: "body_missing", detail: LOST[parcel] });
  const isAllowed = plan.spec.politeness.robots ? await deps.robots.knownAt(parcel.page.url) : () => true;
  const kind: TaskKind = isRendered ? "render" : "fetch";
  const asFetched = { ...task, grant: { ...grant, url: parcel.page.url, kind, carry } };
  const result = await readPage(asFetched, { kind: "page", ...parcel }, isAllowed);
  return result.settlement.outcome.kind === "done" ? { ...result, spent: name } : result;
}

async function readPage(
  task: Task,
  { page, body, pictures = {}, open }: FetchOutcome & { kind: "page" },
  isAllowed: (url: string) => boolean,
): Promise<TaskResult> {
  const { deps, options, grant, plan, signal, revisit } = task;
  let reading: Reading;
  try {
    reading = await plan.read({ page, html: deps.decode(body, page.contentType), grant, signal, tab: open?.tab });
  } catch (error) {
    if (isOverTime(signal)) return tookTooLong(grant, page, signal.reason);
    if (signal.aborted) throw error;
    const detail = inWords(error);
    // A browser takes the tabs of all handlers along: whoever made it go, most of them have done nothing. Whether it has
    // gone is known for certain once the tab is closed.
    await open?.close();
    if (open?.isGone()) return ended(grant, { kind: "retry", because: "render_failed", detail }, { kind: "ok" });
    return ended(grant, { kind: "dead", because: "handler_failed", status: page.status, detail }, { kind: "ok" });
  }
  const kept = { body: plan.spec.keep.bodies ? body : undefined, pictures };
  if (revisit === undefined) return { ...(await done(task, { page, reading, found: reading, isAllowed })), ...kept };
  const isSame = isAsBefore(revisit, reading);
  const outgoing = { page, reading: emitted(revisit, reading, isSame), found: reading, isAllowed, unchanged: isSame };
  const isRendered = grant.kind === "render";
  const memory = memoryOf(task, revisit, { page, reading, isRendered }, options.recrawlBytes);
  return { ...(await done(task, outgoing)), ...kept, memory };
}

/** The site says that the page is as it was: so are its records and its links. */
async function takenOver(task: Task, page: Page, isAllowed: Read["isAllowed"]): Promise<TaskResult> {
  const { revisit } = task;
  if (revisit === undefined) throw new Error(`${page.url}: nobody asked whether it has changed`);
  const found = readBefore(revisit);
  const reading = emitted(revisit, found, true);
  const result = await done(task, { page, reading, found, isAllowed, unchanged: true });
  return { ...result, memory: memoryOfSame(task, revisit) };
}

/** A page that was read: what of it goes out, and what was found on it. */
type Read = {
  page: Page;
  reading: Reading;
  found: Found;
  isAllowed(url: string): boolean;
  unchanged?: boolean;
};

async function done(task: Task, { page, reading, found, isAllowed, unchanged }: Read): Promise<TaskResult> {
  const { options, grant, plan } = task;
  const { spec, scope, routeOf } = plan;
  const discovery = discover({
    spec,
    scope,
    found,
    isAllowed,
    routeOf,
    pageUrl: page.url,
    ownKind: await ownKind(task, page),
    depth: grant.depth,
    maxLinks: options.maxLinks,
  });
  const { records, invalid } = reading;
  return {
    settlement: {
      ...claimOf(grant),
      outcome: { kind: "done" },
      discovered: discovery.tasks,
      refusedLinks: discovery.refused,
      site: { kind: "ok" },
      tally: { pages: 1, records: records.length, invalid: invalid.length, bytes: page.bodyBytes },
    },
    write: writeOf(task, page, reading, unchanged),
    body: undefined,
    pictures: {},
  };
}

/** How other pages of the page's site are fetched, as far as is known. */
async function ownKind({ deps, plan }: Task, { url }: Page): Promise<TaskKind> {
  if (plan.spec.render !== "auto") return kindOf(plan.spec);
  return (await deps.scriptedSites.has(siteOf(url, plan.spec.siteGrouping))) ? "render" : "fetch";
}

function isLackingBrowser({ deps, grant, plan }: Task, { page, body }: FetchOutcome & { kind: "page" }): boolean {
  if (plan.spec.render !== "auto" || grant.kind !== "fetch" || !/html/i.test(page.contentType ?? "")) return false;
  return deps.needsBrowser(deps.decode(body, page.contentType));
}

/** The page goes on as a task of its own, for a worker with a browser; the rest of its site will go there at once. */
async function escalated(task: Task, page: Page): Promise<TaskResult> {
  const { deps, grant, plan } = task;
  await deps.scriptedSites.mark(grant.site);
  // In a set of seen URLs that lapse, each fetch of a page has a step of its own.
  const step = stepUrl(grant.url, "render", plan.spec.dedup.scope === "job" ? undefined : grant.taskId);
  return continued(task, page, [continuation(task, step, "render")], 0);
}

/** The handler had the page and did not come to an end with it: it would not the next time either. */
function tookTooLong(grant: Grant, { status }: Page, { message }: Error): TaskResult {
  return ended(grant, { kind: "dead", because: "time_limit", status, detail: message }, { kind: "ok" });
}

/**
 * Redirects go back through the frontier as tasks of their own: the target is fetched once however many URLs lead to it,
 * and its site's allowance is kept without a special case. Off the page's site they are followed only from a URL the
 * user gave: a crawl does not leave its site because a link did.
 */
function redirected(task: Task, { to, page }: FetchOutcome & { kind: "redirect" }): TaskResult {
  const { grant, plan, options } = task;
  const redirects = grant.redirects + 1;
  if (to === pageUrlOf(grant.url) || redirects > options.maxRedirects) {
    const detail = `${redirects} redirects, now to ${to}`;
    return ended(grant, { kind: "dead", because: "redirect_loop", status: page.status, detail }, { kind: "ok" });
  }
  const mayFollow = grant.depth === 0 || plan.scope === undefined || plan.scope.from(grant.url)(to);
  return continued(task, page, mayFollow ? [continuation(task, to, grant.kind)] : [], mayFollow ? 0 : 1);
}

/** A task that goes on with this one's page elsewhere, or in another way: not counted against a page limit. */
function continuation({ grant, plan }: Task, url: string, kind: TaskKind): NewTask {
  const routing = plan.routeOf(pageUrlOf(url));
  return {
    url,
    site: siteOf(url, plan.spec.siteGrouping),
    kind,
    queue: queueFor(kind, routing, plan.spec),
    priority: routing.priority,
    depth: grant.depth,
    redirects: grant.redirects + 1,
    ...(grant.handler === undefined ? {} : { handler: grant.handler }),
    ...(grant.carry === undefined ? {} : { carry: grant.carry }),
  };
}

function continued(task: Task, page: Page, discovered: readonly NewTask[], refusedLinks: number): TaskResult {
  const settlement: Settlement = {
    ...claimOf(task.grant),
    outcome: { kind: "done" },
    discovered,
    refusedLinks,
    site: { kind: "ok" },
    tally: NOTHING,
  };
  return { settlement, write: writeOf(task, page, NO_READING), body: undefined, pictures: {} };
}

function writeOf({ grant, plan }: Task, page: Page, reading: Reading, unchanged = false): TaskResult["write"] {
  const { keep } = plan.spec;
  if (!keep.pages && !keep.records) return undefined;
  const { jobId, taskId, token, depth } = grant;
  const { records, invalid } = keep.records ? reading : NO_READING;
  // Records hang on their page: of one that is not to be kept, only what they need stays.
  const kept = keep.pages ? page : { ...page, headers: {} };
  return { jobId, taskId, token, depth, page: kept, records, invalid, ...(unchanged ? { unchanged } : {}) };
}

function ended(grant: Grant, outcome: TaskOutcome, site: Settlement["site"] = { kind: "unknown" }): TaskResult {
  const settlement = { ...claimOf(grant), outcome, discovered: [], refusedLinks: 0, site, tally: NOTHING };
  return { settlement, write: undefined, body: undefined, pictures: {} };
}

function siteSignal(outcome: FetchOutcome & { kind: "retry" | "dead" }): Settlement["site"] {
  if (outcome.kind === "dead") return { kind: outcome.status === undefined ? "unknown" : "ok" };
  if (outcome.because !== "throttled") return { kind: "unknown" };
  const { retryAfterMs } = outcome;
  return retryAfterMs === undefined ? { kind: "throttled" } : { kind: "throttled", retryAfterMs };
}

function withoutUndefined<T extends object>(outcome: T): T {
  return Object.fromEntries(Object.entries(outcome).filter(([, value]) => value !== undefined)) as T;
}

/** What a handler threw, which may be anything, in one short line. */
function inWords(thrown: unknown): string {
  const isError = thrown instanceof Error;
  const words = isError ? `${thrown.name}: ${thrown.message}` : (JSON.stringify(thrown) ?? typeof thrown);
  return oneLine(words);
}

const NOTHING: Tally = { pages: 0, records: 0, invalid: 0, bytes: 0 };
const NO_READING: Reading = { records: [], invalid: [], links: [], wanted: [] };
const EVERYTHING_ALLOWED: RobotsAnswer = { kind: "rules", allows: () => true, crawlDelayMs: 0, sitemaps: [] };
