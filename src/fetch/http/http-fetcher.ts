/** Fetches pages over HTTP: the status policy on top of `HttpClient`. */
import type { BlockName } from "../../domain/block.ts";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import type { Page } from "../../domain/page.ts";
import { conditionalHeaders } from "../../domain/validators.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { EgressGate } from "../egress/gate.ts";
import { createExitClient, type ExitClient, type ExitClientDeps } from "../exit/exit-client.ts";
import type { Allowance, Fetcher, FetchOutcome, FetchRequest, RequestCookies } from "../fetcher.ts";
import { bodyOfBlock, findBlock, findNamedBlock } from "./block-signatures.ts";
import { createHttpClient, type HttpAnswer, type HttpClientOptions } from "./http-client.ts";
import { retryAfterMs } from "./retry-after.ts";
import { statusVerdict } from "./status-policy.ts";

type HttpFetcherDeps = {
  gate: EgressGate;
  allowance: Allowance;
  clock: Clock;
  /** The proxies and gateways. Undefined: all requests are sent directly. */
  exits?: Omit<ExitClientDeps, "client" | "clock"> | undefined;
};

export type HttpFetcherOptions = HttpClientOptions;

/** The fetcher, and the client under it for requests that follow other rules, such as those for robots.txt. */
export type HttpFetcher = Fetcher & Pick<ExitClient, "send">;

export function createHttpFetcher(deps: HttpFetcherDeps, options: HttpFetcherOptions): HttpFetcher {
  const direct = createHttpClient(deps, options);
  const client: ExitClient =
    deps.exits === undefined ? direct : createExitClient({ ...deps.exits, client: direct, clock: deps.clock });

  async function fetch(request: FetchRequest): Promise<FetchOutcome> {
    const { limits, signal, validators, cookies, show: _, findsAllBlocks, ...rest } = request;
    const plain =
      validators === undefined ? request.headers : { ...conditionalHeaders(validators), ...request.headers };
    const headers = cookies === undefined ? plain : withCookies(plain, cookies.headerFor(request.url));
    const exits = exitsIn(cookies, rest.exits);
    const own = exits === undefined ? {} : { exits };
    const answer = await client.send({ ...rest, ...own, limits, overflow: "refuse", headers, signal });
    if (answer.kind !== "answer") return answer;
    if (cookies !== undefined) storeCookies(cookies, answer, request.url);
    const block = answer.block ?? (await blockOf(answer, findsAllBlocks));
    if (block === undefined) return judge(answer, request);
    return findsAllBlocks === true
      ? withBlockPage(blocked(answer, block), answer, request.url)
      : blocked(answer, block);
  }

  function judge(answer: HttpAnswer, { url, validators }: FetchRequest): FetchOutcome {
    const { status } = answer;
    const verdict = statusVerdict(status);
    switch (verdict.kind) {
      case "page":
        return answer.exitId === undefined
          ? { kind: "page", page: pageOf(answer, url), body: answer.body }
          : { kind: "page", page: pageOf(answer, url), body: answer.body, exitId: answer.exitId };
      case "unchanged":
        if (validators !== undefined) return { kind: "unchanged", page: pageOf(answer, url) };
        // A 304 has no body. If it were treated as a page, an empty page would be stored.
        return {
          kind: "dead",
          because: "http_status",
          status,
          detail: `answered ${status} to an unconditional request`,
        };
      case "redirect":
        return redirect(answer, url);
      case "retry": {
        const waitMs = retryAfterMs(answer.headers["retry-after"], deps.clock.now());
        const retryAfter = waitMs === undefined ? {} : { retryAfterMs: waitMs };
        return { kind: "retry", because: verdict.because, status, detail: `answered ${status}`, ...retryAfter };
      }
      case "dead":
        return { kind: "dead", because: "http_status", status, detail: `answered ${status}` };
    }
  }

  function blocked({ status, headers }: HttpAnswer, block: BlockName): FetchOutcome & { kind: "retry" } {
    const waitMs = retryAfterMs(headers["retry-after"], deps.clock.now());
    const retryAfter = waitMs === undefined ? {} : { retryAfterMs: waitMs };
    return {
      kind: "retry",
      because: "blocked",
      status,
      detail: `answered ${status}, blocked (${block})`,
      block,
      ...retryAfter,
    };
  }

  return { fetch, send: client.send, close: client.close };
}

/** Only answers with a status of blocks usually have an error body. Without one, signatures are not searched. */
function blockOf(answer: HttpAnswer, findsAll: boolean | undefined): Promise<BlockName | undefined> | undefined {
  if (findsAll === true) return findBlock(answer);
  return answer.errorBody === undefined ? undefined : findNamedBlock(answer);
}

/** A browser can show the page of a block, so that its scripts run. */
async function withBlockPage(
  outcome: FetchOutcome & { kind: "retry" },
  answer: HttpAnswer,
  url: string,
): Promise<FetchOutcome> {
  const body = await bodyOfBlock(answer);
  if (body === undefined) return outcome;
  const { exitId } = answer;
  return { ...outcome, blockPage: { page: pageOf(answer, url), body, ...(exitId === undefined ? {} : { exitId }) } };
}

/** A `cookie` header of the job is sent before the cookies of the session. */
function withCookies(headers: FetchRequest["headers"], cookie: string | undefined): FetchRequest["headers"] {
  if (cookie === undefined) return headers;
  return { ...headers, cookie: headers.cookie === undefined ? cookie : `${headers.cookie}; ${cookie}` };
}

/** Requests of one session may have to use the same exit. */
function exitsIn(cookies: RequestCookies | undefined, exits: FetchRequest["exits"]): FetchRequest["exits"] {
  return cookies === undefined || typeof exits !== "object" ? exits : { ...exits, session: cookies.session };
}

function storeCookies(cookies: RequestCookies, { headers }: HttpAnswer, url: string): void {
  const received = headers["set-cookie"];
  if (received !== undefined) cookies.receive(url, received.split("\n"));
}

function redirect(answer: HttpAnswer, url: string): FetchOutcome {
  const { status, headers } = answer;
  const to = headers.location === undefined ? undefined : canonicalUrl(utf8(headers.location), url);
  if (to !== undefined) return { kind: "redirect", to, page: pageOf(answer, url) };
  const where = JSON.stringify(headers.location?.slice(0, 200) ?? null);
  return { kind: "dead", because: "bad_response", status, detail: `answered ${status} with location ${where}` };
}

function pageOf({ status, headers, body, sentAt, endedAt }: HttpAnswer, url: string): Page {
  return {
    url,
    status,
    headers,
    contentType: headers["content-type"],
    bodyBytes: body.length,
    fetchedAt: Math.round(endedAt),
    tookMs: endedAt - sentAt,
  };
}

/**
 * Header bytes are decoded as Latin-1. Servers that send non-ASCII in Location mean UTF-8, and browsers handle it that
 * way.
 */
function utf8(header: string): string {
  const bytes = Buffer.from(header, "latin1");
  const text = bytes.toString("utf8");
  return text.includes("\ufffd") ? header : text;
}
