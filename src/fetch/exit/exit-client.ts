/**
 * Sends requests through exits. It wraps the HTTP client: each request goes through the exit that `chooseExit` selects.
 *
 * If an exit fails before the request was sent, another exit is used at once. If the site blocks the request, it is sent
 * again through the next tier of the job, or through another exit of the last tier. Every request waits for its turn at
 * the site, as all requests do. Other failures are left to the retries of the task.
 */
import { DEFAULT_EXIT_RULES, type Exit, type ExitRules } from "../../domain/exit.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { ExitUse } from "../fetcher.ts";
import { findBlock } from "../http/block-signatures.ts";
import type { HttpAnswer, HttpClient, HttpRequest } from "../http/http-client.ts";
import type { TransportFailure } from "../http/transport-error.ts";
import { type ChosenExit, chooseExit, exitsOfTier, tiersOf } from "./choose-exit.ts";
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
type Attempted = { chosen: ChosenExit; result: Result; verdict: ExitResult["kind"] };

/** The maximum number of exits for one request. */
const MAX_EXITS = 5;
const PROXY_CREDENTIALS_REFUSED = 407;

export function createExitClient(deps: ExitClientDeps): ExitClient {
  const { client, exits, board, spending, clock } = deps;
  const turns = new Map<string, number>();
  const probed = new Set<string>();

  async function choose(question: Parameters<typeof chooseExit>[0]): Promise<ChosenExit | undefined> {
    const { site } = question;
    await Promise.all([board.load(site), board.load(ALL_SITES)]);
    const turn = nextTurn(site);
    return chooseExit(question, {
      exits,
      healthAtSite: (exitId) => board.healthAt(site, exitId),
      healthOf: (exitId) => board.healthAt(ALL_SITES, exitId),
      isProbed: (exitId) => probed.has(exitId),
      now: clock.now(),
      turn,
      random: deps.random(),
    });
  }

  function nextTurn(site: string): number {
    const turn = turns.get(site) ?? 0;
    if (turns.size >= MAX_TURNS) turns.clear();
    turns.set(site, turn + 1);
    return turn;
  }

  async function attempt(request: HttpRequest, use: ExitUse | undefined, chosen: ChosenExit): Promise<Attempted> {
    const { exit, isProbe } = chosen;
    if (isProbe) probed.add(exit.id);
    const startedAt = clock.now();
    try {
      const result = await client.send({ ...request, exit });
      const verdict = await verdictOf(result, use !== undefined);
      const [site, cost] = [request.site, isCharged(result) ? exit.cost : 0];
      const tookMs = clock.now() - startedAt;
      deps.count?.(verdict.kind);
      if (verdict.kind !== "down") board.record(site, exit.id, { kind: verdict.kind, tookMs, cost });
      board.record(ALL_SITES, exit.id, { kind: verdict.kind === "down" ? "down" : "ok", tookMs, cost });
      const jobId = use === undefined || use === "none" ? undefined : use.jobId;
      if (jobId !== undefined && isCharged(result)) spending.record(jobId, exit.provider, exit.cost);
      return { chosen, result: named(result, exit, verdict.block), verdict: verdict.kind };
    } finally {
      if (isProbe) probed.delete(exit.id);
    }
  }

  async function sendThrough(request: HttpRequest, use: ExitUse | undefined): Promise<Result> {
    const { rules, jobId, session } = use === undefined || use === "none" ? NO_USE : use;
    const avoid = new Set<string>();
    const scheme = new URL(request.url).protocol;
    let [tier, last]: [number, Attempted | undefined] = [0, undefined];
    for (let sent = 0; sent < MAX_EXITS; sent++) {
      const question = { rules, site: request.site, session, scheme, tier, lastTier: tiersOf(rules) - 1, avoid };
      const chosen = await withinBudget(await choose(question), question, jobId);
      if (chosen === undefined) return last === undefined ? noExit(rules, scheme) : withoutMark(last.result);
      last = await attempt(request, use, chosen);
      if (!isWorthAnotherExit(last, request)) break;
      avoid.add(chosen.exit.id);
      const hasNext = chosen.tier < question.lastTier && exitsOfTier(question, exits, chosen.tier + 1).length > 0;
      tier = last.verdict === "blocked" && hasNext ? chosen.tier + 1 : chosen.tier;
    }
    return last === undefined ? noExit(rules, scheme) : withoutMark(last.result);
  }

  /** If the budget for the tier is used up, an exit of the first tier is chosen, if there is one. */
  async function withinBudget(
    chosen: ChosenExit | undefined,
    question: Parameters<typeof chooseExit>[0],
    jobId: string | undefined,
  ): Promise<ChosenExit | undefined> {
    const { budget } = question.rules;
    if (chosen === undefined || chosen.tier === 0 || budget === undefined || jobId === undefined) return chosen;
    if (await spending.mayUse(jobId, budget)) return chosen;
    return choose({ ...question, tier: 0, lastTier: 0 });
  }

  function noExit(rules: ExitRules, scheme: string): TransportFailure {
    const wanted = [
      ...(rules.use.length === 0 ? [] : [`one of the tags ${rules.use.join(", ")}`]),
      ...(rules.region === undefined ? [] : [`the region ${rules.region}`]),
      ...(rules.use.length === 0 && rules.region === undefined ? [`the scheme ${scheme}`] : []),
    ].join(" and ");
    const tags = [...new Set(exits.flatMap((exit) => exit.tags))].slice(0, 20).join(", ");
    const has = exits.length === 0 ? "it has no proxies" : `its proxies have the tags ${tags || "(none)"}`;
    const detail = `this worker has no proxy with ${wanted}; ${has}; add one to TRAWL_PROXIES or change \`proxy\` of the job`;
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
const MAX_TURNS = 10_000;

async function verdictOf(result: Result, mayBeBlocked: boolean): Promise<{ kind: ExitResult["kind"]; block?: string }> {
  if (result.kind !== "answer") {
    if (result.kind === "dead") return { kind: result.because === "egress_refused" ? "ok" : "failed" };
    return { kind: result.isProxyDown ? "down" : "failed" };
  }
  if (result.status === PROXY_CREDENTIALS_REFUSED) return { kind: "down" };
  const block = mayBeBlocked ? await findBlock(result) : undefined;
  return block === undefined ? { kind: "ok" } : { kind: "blocked", block };
}

function named(result: Result, { id: exitId }: Exit, block: string | undefined): Result {
  if (result.kind !== "answer") return result;
  return block === undefined ? { ...result, exitId } : { ...result, exitId, block };
}

/** Providers charge for requests that they have sent. */
function isCharged(result: Result): boolean {
  return (
    result.kind === "answer" || (result.kind === "retry" && result.because !== "proxy" && result.because !== "dns")
  );
}

function isWorthAnotherExit(
  { result, verdict }: Attempted,
  { mayRepeat = true, method = "GET" }: HttpRequest,
): boolean {
  if (verdict === "down") return true;
  if (result.kind === "retry" && result.because === "proxy") return true;
  return verdict === "blocked" && (mayRepeat || method === "GET");
}

/** The result as other parts see it: which proxy failed is not their concern. */
function withoutMark(result: Result): Result {
  if (result.kind === "answer" && result.status === PROXY_CREDENTIALS_REFUSED && result.block === undefined) {
    return { kind: "retry", because: "proxy", detail: "the proxy refused the credentials (407)" };
  }
  if (result.kind !== "retry" || result.isProxyDown === undefined) return result;
  const { isProxyDown: _, ...plain } = result;
  return plain;
}
