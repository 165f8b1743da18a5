/**
 * Sends requests through exits. It wraps the HTTP client: each request goes through the exit that `chooseExit` selects.
 *
 * If an exit fails before the request was sent, another exit of the same tier is used at once. If the site blocks the
 * request, it is sent again through the next tier of the job, or through another exit of the last tier. Each of these
 * requests waits for its turn at the site. Other failures are left to the retries of the task.
 */
import type { BlockName } from "../../domain/block.ts";
import { DEFAULT_EXIT_RULES, type Exit, type ExitRules, priceOf, type Spent } from "../../domain/exit.ts";
import type { Clock } from "../../runtime/clock.ts";
import { isForwarded } from "../egress/proxy-connector.ts";
import type { ExitUse } from "../fetcher.ts";
import { findBlock } from "../http/block-signatures.ts";
import type { HttpAnswer, HttpClient, HttpRequest } from "../http/http-client.ts";
import type { TransportFailure } from "../http/transport-error.ts";
import { type ChosenExit, chooseExit, type ExitQuestion, exitsOfTier, tiersOf } from "./choose-exit.ts";
import type { ExitResult } from "./health.ts";
import type { HealthBoard } from "./health-board.ts";
import { ALL_SITES } from "./health-codec.ts";
import type { Spending } from "./spending.ts";

export type ExitClientDeps = {
  client: HttpClient;
  exits: readonly Exit[];
  /** Whether requests to a URL are sent directly, as NO_PROXY says. */
  isDirect(url: URL): boolean;
  board: HealthBoard;
  spending: Spending;
  clock: Clock;
  random(): number;
  /** Counts a request through an exit. */
  count?: (result: ExitResult["kind"]) => void;
};

export type ExitClient = {
  send(request: HttpRequest & { exits?: ExitUse | undefined }): Promise<HttpAnswer | TransportFailure>;
  close(): Promise<void>;
};

type Result = HttpAnswer | TransportFailure;
/** `unused`: the request failed without any contact to the exit, so it says nothing about the exit. */
type Verdict = { kind: ExitResult["kind"] | "unused"; block?: BlockName };
type RequestSpent = Pick<Spent, "bytes" | "cost">;
type Attempted = { result: Result; verdict: Verdict["kind"] };

/** The maximum number of exits for one request. */
const MAX_EXITS = 5;
const PROXY_CREDENTIALS_REFUSED = 407;

export function createExitClient(deps: ExitClientDeps): ExitClient {
  const { client, exits, board, spending, clock } = deps;
  const requestNumbers = new Map<string, number>();
  const probed = new Set<string>();

  async function choose(question: ExitQuestion): Promise<ChosenExit | undefined> {
    const { site } = question;
    await Promise.all([board.load(site), board.load(ALL_SITES)]);
    const chosen = chooseExit(question, {
      exits,
      healthAtSite: (exitId) => board.healthAt(site, exitId),
      healthOf: (exitId) => board.healthAt(ALL_SITES, exitId),
      isProbed: (exitId) => probed.has(exitId),
      now: clock.now(),
      requestNumber: nextNumber(site),
      random: deps.random(),
    });
    // Before any `await`: otherwise requests that choose at the same time would all try the same exit.
    if (chosen?.isProbe) probed.add(chosen.exit.id);
    return chosen;
  }

  function nextNumber(site: string): number {
    const number = requestNumbers.get(site) ?? 0;
    if (requestNumbers.size >= MAX_NUMBERS) requestNumbers.clear();
    requestNumbers.set(site, number + 1);
    return number;
  }

  async function attempt(request: HttpRequest, use: ExitUse | undefined, chosen: ChosenExit): Promise<Attempted> {
    const { exit, isProbe } = chosen;
    try {
      const result = await client.send({ ...request, exit });
      const { kind, block } = await verdictOf(result, exit, request.url, use !== undefined);
      const spent = spentBy(request, exit, result);
      if (kind !== "unused") record(request.site, exit, kind, result, spent);
      const jobId = use === undefined || use === "none" ? undefined : use.jobId;
      if (jobId !== undefined && isCharged(result)) spending.record(jobId, exit.provider, spent);
      return { result: named(result, exit, block), verdict: kind };
    } finally {
      if (isProbe) probed.delete(exit.id);
    }
  }

  function record(site: string, exit: Exit, kind: ExitResult["kind"], result: Result, spent: RequestSpent): void {
    // Without the wait for the turn at the site, which does not depend on the exit.
    const tookMs = result.kind === "answer" ? result.endedAt - result.sentAt : 0;
    deps.count?.(kind);
    if (kind !== "down") board.record(site, exit.id, { kind, tookMs, ...spent });
    board.record(ALL_SITES, exit.id, { kind: kind === "down" ? "down" : "ok", tookMs, ...spent });
  }

  async function sendThrough(request: HttpRequest, use: ExitUse | undefined): Promise<Result> {
    const { rules, jobId, session } = use === undefined || use === "none" ? NO_USE : use;
    const avoid = new Set<string>();
    const scheme = new URL(request.url).protocol;
    let [tier, last]: [number, Attempted | undefined] = [firstTier(use, rules, scheme), undefined];
    for (let sent = 0; sent < MAX_EXITS; sent++) {
      const question = { rules, site: request.site, session, scheme, tier, lastTier: tiersOf(rules) - 1, avoid };
      const chosen = await withinBudget(await choose(question), question, jobId);
      if (chosen === undefined) break;
      last = await attempt(request, use, chosen);
      if (!isWorthAnotherExit(last, request)) break;
      if (last.verdict === "blocked" && hasOwnTier(use)) break;
      avoid.add(chosen.exit.id);
      tier = last.verdict === "blocked" ? tierAfterBlock(question, chosen.tier) : chosen.tier;
    }
    return last === undefined ? noExit(rules, scheme) : resultOf(last);
  }

  /** The tier that the request sets, or the next lower one that has exits. */
  function firstTier(use: ExitUse | undefined, rules: ExitRules, scheme: string): number {
    let tier = Math.min(hasOwnTier(use) ? use.tier : 0, tiersOf(rules) - 1);
    while (tier > 0 && exitsOfTier({ rules, scheme, avoid: NONE }, exits, tier).length === 0) tier -= 1;
    return tier;
  }

  /** The next tier that has an exit for the request. The same tier if there is none. */
  function tierAfterBlock(question: ExitQuestion, blocked: number): number {
    for (let tier = blocked + 1; tier <= question.lastTier; tier++) {
      if (exitsOfTier(question, exits, tier).length > 0) return tier;
    }
    return blocked;
  }

  /** If the budget for the tier is used up, an exit of the first tier is chosen, if there is one. */
  async function withinBudget(
    chosen: ChosenExit | undefined,
    question: ExitQuestion,
    jobId: string | undefined,
  ): Promise<ChosenExit | undefined> {
    const { budget } = question.rules;
    if (chosen === undefined || chosen.tier === 0 || budget === undefined || jobId === undefined) return chosen;
    if (chosen.isProbe) probed.delete(chosen.exit.id);
    if (await spending.mayUse(jobId, budget)) {
      if (chosen.isProbe) probed.add(chosen.exit.id);
      return chosen;
    }
    return choose({ ...question, tier: 0, lastTier: 0 });
  }

  function noExit(rules: ExitRules, scheme: string): TransportFailure {
    const wanted = [
      ...(rules.use.length === 0 ? [] : [`one of the tags ${rules.use.join(", ")}`]),
      ...(rules.region === undefined ? [] : [`the region ${rules.region}`]),
    ].join(" and ");
    const missing = wanted === "" ? `for ${scheme} URLs` : `with ${wanted}`;
    const tags = [...new Set(exits.flatMap((exit) => exit.tags))].slice(0, 20).join(", ");
    const has = exits.length === 0 ? "it has no proxies" : `its proxies have the tags ${tags || "(none)"}`;
    const detail = `this worker has no proxy ${missing}; ${has}; add one to TRAWL_PROXIES or change \`proxy\` of the job`;
    return { kind: "retry", because: "proxy", detail };
  }

  return {
    send(request) {
      const { exits: use } = request;
      const isOptional = use === undefined || (use !== "none" && use.rules === DEFAULT_EXIT_RULES);
      if (use === "none" || (isOptional && exits.length === 0)) return client.send(request);
      if (deps.isDirect(new URL(request.url))) return client.send(request);
      return sendThrough(request, use);
    },
    async close() {
      await Promise.all([board.close(), spending.close()]);
      await client.close();
    },
  };
}

const NO_USE = { rules: DEFAULT_EXIT_RULES, jobId: undefined, session: undefined };
const MAX_NUMBERS = 10_000;
const NONE: ReadonlySet<string> = new Set();

function hasOwnTier(use: ExitUse | undefined): use is Exclude<ExitUse, "none"> & { tier: number } {
  return typeof use === "object" && use.tier !== undefined;
}

async function verdictOf(result: Result, exit: Exit, url: string, mayBeBlocked: boolean): Promise<Verdict> {
  if (result.kind !== "answer") {
    // `dns` is about the name of the site: if the name of a proxy does not resolve, the reason is `proxy`.
    if (result.because === "egress_refused" || result.because === "dns") return { kind: "unused" };
    return { kind: result.kind === "retry" && result.isProxyDown ? "down" : "failed" };
  }
  // In a tunnel, and from a gateway, the answer is that of the site. A site must not be able to eject proxies.
  const isByProxy = isForwarded(exit, new URL(url).protocol);
  if (isByProxy && result.status === PROXY_CREDENTIALS_REFUSED) return { kind: "down" };
  const block = mayBeBlocked ? await findBlock(result) : undefined;
  return block === undefined ? { kind: "ok" } : { kind: "blocked", block };
}

function named(result: Result, { id: exitId }: Exit, block: BlockName | undefined): Result {
  if (result.kind !== "answer") return result;
  return block === undefined ? { ...result, exitId } : { ...result, exitId, block };
}

function spentBy(request: HttpRequest, exit: Exit, result: Result): RequestSpent {
  if (!isCharged(result)) return { bytes: 0, cost: 0 };
  const bytes = bytesOf(request, result);
  return { bytes, cost: priceOf(exit, bytes) };
}

/** The bytes of a request and its response: headers and bodies as they were sent, without those of TLS. */
function bytesOf({ url, headers, body = "" }: HttpRequest, result: Result): number {
  const sent = url.length + headerBytes(headers) + Buffer.byteLength(body);
  if (result.kind !== "answer") return sent + (result.receivedBytes ?? 0);
  return sent + headerBytes(result.headers) + result.receivedBytes;
}

/** Each header line contains a colon, a space and a line break too. */
function headerBytes(headers: Readonly<Record<string, string>>): number {
  return Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
}

/** Providers charge for requests that they have sent. */
function isCharged(result: Result): boolean {
  return result.kind === "answer" || !UNSENT.includes(result.because);
}

const UNSENT: readonly string[] = ["proxy", "dns", "egress_refused"];

function isWorthAnotherExit(
  { result, verdict }: Attempted,
  { mayRepeat = true, method = "GET" }: HttpRequest,
): boolean {
  if (result.kind === "retry" && result.because === "proxy") return true; // it was not sent
  return (verdict === "down" || verdict === "blocked") && (mayRepeat || method === "GET");
}

/**
 * The result for the caller, without `isProxyDown` and `receivedBytes`. An answer of the proxy itself becomes a failure
 * of the proxy.
 */
function resultOf({ result, verdict }: Attempted): Result {
  if (result.kind === "answer" && verdict === "down") {
    return { kind: "retry", because: "proxy", detail: "the proxy refused the credentials (407)" };
  }
  if (result.kind === "answer") return result;
  const { receivedBytes: _, ...plain } = result;
  if (plain.kind !== "retry" || plain.isProxyDown === undefined) return plain;
  const { isProxyDown: __, ...rest } = plain;
  return rest;
}
