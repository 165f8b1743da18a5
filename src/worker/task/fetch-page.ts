/** Requests a page. In a recrawl, the request is conditional if the page memory contains validators. */
import { type BlockState, tierOf } from "../../domain/block.ts";
import { isSafe, type TaskRequest } from "../../domain/request.ts";
import { pageUrlOf, withoutStep } from "../../domain/task-url.ts";
import { isContradicted, type Validators } from "../../domain/validators.ts";
import type { ExitUse, Fetcher, FetchLimits, FetchOutcome, FetchRequest, RequestCookies } from "../../fetch/fetcher.ts";
import type { Grant } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { RequestBodies } from "../../store/bodies/bodies.ts";
import type { PageMemory, Recall } from "../../store/page-memory.ts";
import type { Attempt, TaskObserver } from "../observe/task-observer.ts";
import type { JobPlan } from "./plan.ts";
import { hasOwnConditions, type Revisit, validatorsFor } from "./recrawl.ts";
import { type SentMarks, sendOnce } from "./send-once.ts";

export type FetchPageDeps = {
  fetcher: Fetcher;
  /** Renders pages in a browser, which is started on first use. */
  renderer: Fetcher;
  /** Loads the page memory of a recrawl set. */
  recall(recall: Recall): Promise<PageMemory | undefined>;
  clock: Clock;
  /** The large bodies of requests. */
  requestBodies: Pick<RequestBodies, "find" | "put">;
  /** Shared values: the marks of requests that are sent at most once, and the steps taken after blocks. */
  marks: SentMarks;
};

type PageRequest = {
  deps: FetchPageDeps;
  observe: TaskObserver;
  attempt: Attempt;
  options: { limits: Omit<FetchLimits, "bodyBytes"> };
  grant: Grant;
  plan: JobPlan;
  signal: AbortSignal;
  revisit: Revisit | undefined;
  /** Undefined: the job has no sessions. */
  cookies?: RequestCookies | undefined;
  /** What has been done about blocks of the page. Undefined: the job has no steps for blocks. */
  blocked?: BlockState | undefined;
  /** The largest body, if it is not that of the job. */
  bodyBytes?: number;
};

/** Loads the page memory of the page. Undefined if the job is not a recrawl. */
export async function findRevisit({ deps, grant, plan }: Omit<PageRequest, "revisit">): Promise<Revisit | undefined> {
  const { recrawl } = plan.spec;
  if (recrawl === undefined) return undefined;
  const { set } = recrawl;
  return { ...recrawl, before: await deps.recall({ set, url: withoutStep(grant.url), jobId: grant.jobId }) };
}

export async function fetchPage(wanted: PageRequest): Promise<FetchOutcome> {
  const request = wanted.grant.request?.bodyRef === undefined ? wanted : await withBody(wanted);
  if (request === undefined) return BODY_MISSING;
  const { deps, grant, plan } = request;
  const isUnsafe = grant.request !== undefined && !isSafe(grant.request.method);
  if (isUnsafe && plan.spec.retries.unsafe === false)
    return sendOnce(deps.marks, grant, () => send(request, undefined));
  const validators = chooseValidators(request);
  const outcome = await send(request, validators);
  if (outcome.kind !== "unchanged" || validators === undefined) return outcome;
  // If the validators in the response differ from those in the request, the response cannot be trusted, and the page is
  // fetched in full.
  if (!isContradicted(validators, outcome.page.headers)) return outcome;
  return send(request, undefined);
}

const BODY_MISSING: FetchOutcome = {
  kind: "dead",
  because: "body_missing",
  detail:
    "the body of the request is not in TRAWL_BODIES of this worker: set the same TRAWL_BODIES for all servers and workers, then replay the task",
};

/** Loads the body of the request. Undefined if it is missing. */
async function withBody(wanted: PageRequest): Promise<PageRequest | undefined> {
  const { deps, grant } = wanted;
  const { bodyRef, ...request } = grant.request ?? { method: "GET" };
  const body = bodyRef === undefined ? undefined : await deps.requestBodies.find(grant.jobId, bodyRef);
  return body === undefined ? undefined : { ...wanted, grant: { ...grant, request: { ...request, body } } };
}

function chooseValidators({ grant, plan, revisit }: PageRequest): Validators | undefined {
  if (revisit === undefined || grant.kind !== "fetch" || (grant.request?.method ?? "GET") !== "GET") return undefined;
  return hasOwnConditions(plan.headersFor(grant)) ? undefined : validatorsFor({ grant, plan }, revisit);
}

async function send(
  { deps, observe, attempt, options, grant, plan, cookies, signal, blocked, bodyBytes }: PageRequest,
  validators: Validators | undefined,
): Promise<FetchOutcome> {
  const step = grant.kind === "render" ? "render" : "fetch";
  const fetcher = step === "render" ? deps.renderer : deps.fetcher;
  const url = pageUrlOf(grant.url);
  const request: FetchRequest = {
    url,
    site: grant.site,
    validators,
    cookies,
    limits: { ...options.limits, bodyBytes: bodyBytes ?? plan.spec.limits.bodyBytes },
    headers: plan.headersFor(grant),
    profile: plan.profileFor?.(grant.site, cookies),
    exits: blocked === undefined ? plan.exits : exitsAfterBlocks(plan.exits, blocked),
    ...(blocked === undefined ? NOTHING : { findsAllBlocks: true }),
    ...(grant.request === undefined ? {} : requestPart(grant.request, plan)),
    signal,
    show: { browser: plan.spec.browser, keepsTab: plan.needsTab },
  };
  const startedAt = deps.clock.now();
  const outcome =
    observe.trace === undefined
      ? await fetcher.fetch(request)
      : await observe.trace(attempt, step, url, () => fetcher.fetch(request));
  observe.fetched?.(attempt, { step, outcome, startedAt, endedAt: deps.clock.now() });
  return outcome;
}

const NOTHING = {};

/** The steps of the job decide when the next tier is used, not the exit client. */
function exitsAfterBlocks(exits: ExitUse, blocked: BlockState): ExitUse {
  return exits === "none" ? exits : { ...exits, tier: tierOf(blocked) };
}

function requestPart({ method, body }: TaskRequest, { spec }: JobPlan): Partial<FetchRequest> {
  const mayRepeat = isSafe(method) || spec.retries.unsafe !== false;
  return { method, mayRepeat, ...(body === undefined ? {} : { body }) };
}
