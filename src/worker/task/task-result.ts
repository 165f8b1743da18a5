/**
 * The result of one attempt of a task, and functions that build the results of failed attempts. The settler writes
 * them.
 */
import { backoffCauseOf } from "../../domain/backoff.ts";
import type { Page } from "../../domain/page.ts";
import type { FetchOutcome, Pictures } from "../../fetch/fetcher.ts";
import { claimOf, type Grant, type Settlement, type Tally, type TaskOutcome } from "../../frontier/frontier.ts";
import { shortMessage } from "../../runtime/short-message.ts";
import type { ExtractedPage } from "../../spider/page-reader.ts";
import type { SpooledPage, SpooledPageName } from "../../store/bodies/bodies.ts";
import type { MemoryWrite } from "../../store/page-memory.ts";
import type { PageWrite } from "../../store/store.ts";
import type { JobPlan } from "./plan.ts";

export type TaskResult = {
  settlement: Settlement;
  /** The page and its records, for the store; undefined if there is nothing to store. */
  write: Omit<PageWrite, "bodyRef" | "screenshotRef" | "pdfRef" | "run"> | undefined;
  /** The body, if the job stores bodies. */
  body: Buffer | undefined;
  /** Screenshot and PDF, if the job requests them. */
  pictures: Pictures;
  /** The page for a parse task. It is stored before this result is settled. */
  spooled?: SpooledPage & { name: SpooledPageName };
  /** The spooled page that was parsed. It is removed after this result is settled. */
  parsedPage?: SpooledPageName;
  /** Why the task was passed on to another task, for `trawl trace`. Default: only the kind of that task. */
  passedOn?: string;
  /** The new page memory of the recrawl set. */
  memory?: MemoryWrite | undefined;
};

export const NO_TALLY: Tally = { pages: 0, records: 0, invalid: 0, bytes: 0 };
export const NOTHING_EXTRACTED: ExtractedPage = { records: [], invalid: [], links: [], wanted: [] };

/** The result of an attempt without a page. */
export function ended(grant: Grant, outcome: TaskOutcome, site: Settlement["site"] = { kind: "unknown" }): TaskResult {
  const settlement = { ...claimOf(grant), outcome, discovered: [], refusedLinks: 0, site, tally: NO_TALLY };
  return { settlement, write: undefined, body: undefined, pictures: {} };
}

/** The result of a request that failed. */
export function fetchFailed(grant: Grant, outcome: FetchOutcome & { kind: "retry" | "dead" }): TaskResult {
  const { kind, because, status, detail } = outcome;
  const { retryAfterMs } = outcome.kind === "retry" ? outcome : {};
  const settled = withoutUndefined({ kind, because, status, detail, retryAfterMs }) as TaskOutcome;
  return ended(grant, settled, siteSignal(outcome));
}

/** The site has blocked the page, and no step is left. */
export function failedByBlock(grant: Grant, outcome: FetchOutcome & { kind: "retry" }, detail: string): TaskResult {
  const { status } = outcome;
  const dead = { kind: "dead", because: "blocked", detail, ...(status === undefined ? {} : { status }) } as const;
  return ended(grant, dead, siteSignal(outcome));
}

/**
 * This worker cannot load the job. The dead letter contains the reason, and can be replayed when the cause is fixed.
 */
export function unreadable(grant: Grant, error: Error): TaskResult {
  return ended(grant, { kind: "dead", because: "handler_failed", detail: messageOf(error) });
}

/** The time limit passed while the task waited for the network. A later attempt may succeed. */
export function overdue(grant: Grant, reason: Error): TaskResult {
  return ended(grant, { kind: "retry", because: "timeout", detail: reason.message });
}

/** The time limit passed while a handler read the page. Another attempt would exceed the limit too. */
export function tookTooLong(grant: Grant, { status }: Page, { message }: Error): TaskResult {
  return ended(grant, { kind: "dead", because: "time_limit", status, detail: message }, { kind: "ok" });
}

/** The page and its records as the store writes them; undefined if the job stores neither pages nor records. */
export function writeOf(
  { grant, plan }: { grant: Grant; plan: JobPlan },
  page: Page,
  extracted: ExtractedPage,
  unchanged = false,
): TaskResult["write"] {
  const { keep, sessions } = plan.spec;
  if (!keep.pages && !keep.records) return undefined;
  const { jobId, taskId, token, depth } = grant;
  const { records, invalid } = keep.records ? extracted : NOTHING_EXTRACTED;
  // Records refer to their page row. If the job stores no pages, that row has no headers.
  const shown = sessions === undefined ? page : withMaskedCookies(page);
  const stored = keep.pages ? shown : { ...page, headers: {} };
  return { jobId, taskId, token, depth, page: stored, records, invalid, ...(unchanged ? { unchanged } : {}) };
}

/** Masks the cookies of a session: with them, anyone who may read the page could use the session. */
function withMaskedCookies(page: Page): Page {
  const { headers } = page;
  return "set-cookie" in headers ? { ...page, headers: { ...headers, "set-cookie": "***" } } : page;
}

/** One short line that describes the value that a handler threw. It may be any value, not only an Error. */
export function messageOf(thrown: unknown): string {
  const isError = thrown instanceof Error;
  return shortMessage(isError ? `${thrown.name}: ${thrown.message}` : (JSON.stringify(thrown) ?? typeof thrown));
}

/** What a failed request says about its site. */
export function siteSignal(outcome: FetchOutcome & { kind: "retry" | "dead" }): Settlement["site"] {
  if (outcome.kind === "dead") return { kind: outcome.status === undefined ? "unknown" : "ok" };
  const { because, retryAfterMs, status } = outcome;
  const cause = backoffCauseOf(status);
  // A blocked 429 or 503 asks for fewer requests too.
  if (because !== "throttled" && !(because === "blocked" && cause !== undefined)) return { kind: "unknown" };
  return {
    kind: "throttled",
    ...(cause === undefined ? {} : { cause }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

function withoutUndefined<T extends object>(outcome: T): T {
  return Object.fromEntries(Object.entries(outcome).filter(([, value]) => value !== undefined)) as T;
}
