/**
 * Sends a request when its site allows it, and does not follow redirects. Used by the fetcher (pages), the robots
 * policy and the poster (webhooks).
 *
 * Every request waits for its turn at the site. Right before the bytes are written, the client checks again whether the
 * site allows the request. If not, it withdraws the request, which then waits for another turn. If a request fails
 * because the site has closed an idle connection, the client retries it once. The retry also waits for a turn.
 */
import { setMaxListeners } from "node:events";
import { errors } from "undici";
import type { BlockName } from "../../domain/block.ts";
import type { Exit } from "../../domain/exit.ts";
import { type ProfileName, profileHeaders } from "../../domain/header-profile.ts";
import type { Method } from "../../domain/request.ts";
import { TrawlError } from "../../errors.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { EgressGate } from "../egress/gate.ts";
import type { Allowance, FetchLimits } from "../fetcher.ts";
import { type ConnectionOptions, createConnections } from "./connections.ts";
import { ACCEPT_ENCODING, decodeContent } from "./content-coding.ts";
import { Exchange, type ExchangeEnd, type ExchangeTerms } from "./exchange.ts";
import { createExitPaths } from "./exit-paths.ts";
import { isBrokenConnection, type TransportFailure, transportFailure } from "./transport-error.ts";

type HttpClientDeps = { gate: EgressGate; allowance: Allowance; clock: Clock };

export type HttpClientOptions = ConnectionOptions & { userAgent: string };

export type HttpRequest = ExchangeTerms & {
  /** The canonical URL. */
  url: string;
  site: string;
  headers: Readonly<Record<string, string>>;
  /** The browser whose headers replace those of the client. Default: none. */
  profile?: ProfileName | undefined;
  /** Default: GET. */
  method?: Method;
  body?: string;
  /** Whether the request may be sent again if the connection breaks after it was sent. Default: true. */
  mayRepeat?: boolean;
  /** The proxy or gateway that the request goes through. Default: none. */
  exit?: Exit;
};

export type HttpAnswer = {
  kind: "answer";
  status: number;
  /** Names in lower case; repeated headers are joined by ", ", cookies by a line break. */
  headers: Readonly<Record<string, string>>;
  /** Decoded; empty unless the status is that of a page. */
  body: Buffer;
  isCut: boolean;
  sentAt: number;
  endedAt: number;
  /** The bytes of the body that were received, before decoding. */
  receivedBytes: number;
  /** The body of a status that may be a block, as received; at most 64 KB. */
  errorBody?: Buffer | undefined;
  /** The proxy or gateway that it came through. */
  exitId?: string;
  /** The name of the block, if the request went through a proxy and the site has blocked it. */
  block?: BlockName;
};

type Terms = Omit<HttpRequest, "url" | "site">;

export type HttpClient = {
  /**
   * Never throws because of the site. Throws the signal's reason if aborted, BAD_JOB if the request is invalid, and the
   * error of the broker if it is lost.
   */
  send(request: HttpRequest): Promise<HttpAnswer | TransportFailure>;
  close(): Promise<void>;
};

/**
 * How often one request may be withdrawn. A request is withdrawn if opening its connection took longer than its turn.
 * The next turn can use the open connection, so this limit is reached only on a very busy machine.
 */
const MAX_WITHDRAWALS = 100;

const ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

export function createHttpClient({ gate, allowance, clock }: HttpClientDeps, options: HttpClientOptions): HttpClient {
  const direct = createConnections(gate.connector, options);
  const exitPaths = createExitPaths(gate, options);
  const ownHeaders: Readonly<Record<string, string>> = {
    "user-agent": options.userAgent,
    accept: ACCEPT,
    "accept-language": "en,*;q=0.5",
    "accept-encoding": ACCEPT_ENCODING,
  };

  function dispatch(url: URL, site: string, terms: Terms): Promise<ExchangeEnd> {
    const { method = "GET", body, headers, profile, exit } = terms;
    const sent = exit === undefined ? undefined : exitPaths.of(exit, url);
    const connections = sent?.connections ?? direct;
    const origin = sent?.origin ?? url.origin;
    const { idleMs, totalMs } = terms.limits;
    // The exchange itself ends after `totalMs`. A second timer with the same time would end it before it reads a
    // response that has arrived while the process was blocked. 0: no timer.
    const silenceMs = idleMs < totalMs ? idleMs : 0;
    const exchange = new Exchange(clock, terms, {
      trySend: () => allowance.trySend(site),
      isConnectionNew: connections.isNew,
      onWaitEnd: () => connections.endWait(origin),
    });
    connections.beginWait(origin);
    connections.agent.dispatch(
      {
        origin,
        path: sent?.path ?? url.pathname + url.search,
        method,
        ...(body === undefined ? {} : { body }),
        headers: merged(
          profile === undefined ? merged(ownHeaders, headers) : profileHeaders(profile, url.protocol, headers),
          sent?.headers ?? NO_HEADERS,
        ),
        headersTimeout: silenceMs,
        bodyTimeout: silenceMs,
      },
      exchange,
    );
    return exchange.ended;
  }

  /** Sends the request again until it has reached the site, or until it is clear that it cannot. */
  async function exchange(url: URL, { site, ...terms }: HttpRequest): Promise<ExchangeEnd> {
    const { signal } = terms;
    let isSecondTry = false;
    for (let withdrawals = 0; ; ) {
      const turn = allowance.turn(site, signal);
      if (turn !== undefined) await turn;
      const end = await dispatchInTurn(url, site, terms);
      // undici frees the connection in the next iteration of the event loop after the response. A request that is sent
      // earlier opens another connection.
      await new Promise(setImmediate);
      if (end.kind === "withdrawn") {
        if (++withdrawals > MAX_WITHDRAWALS) return end;
      } else if (end.kind === "failed" && !isSecondTry && isWorthASecondTry(end, terms)) {
        isSecondTry = true;
      } else {
        return end;
      }
    }
  }

  async function dispatchInTurn(url: URL, site: string, terms: Terms): Promise<ExchangeEnd> {
    try {
      terms.signal.throwIfAborted();
      const end = await dispatch(url, site, terms);
      if (end.kind === "withdrawn" || (end.kind === "failed" && !end.isSent)) allowance.unsent(site);
      return end;
    } catch (error) {
      allowance.unsent(site); // aborted
      throw error;
    }
  }

  return {
    async send(request) {
      // One signal may belong to many requests, and Node reports more than ten listeners as a leak.
      setMaxListeners(0, request.signal);
      const url = new URL(request.url);
      const refusal = gate.check(url);
      if (refusal !== undefined) return { kind: "dead", because: "egress_refused", detail: refusal };
      const problem = request.exit === undefined ? undefined : await exitPaths.problemOf(request.exit, url);
      if (problem !== undefined) return transportFailure(problem);
      const end = await exchange(url, request);
      if (end.kind === "answer" && end.codings.length === 0) return end;
      return withReceived(await toResult(end, request), end, request);
    },
    async close() {
      await Promise.all([direct.agent.destroy(), exitPaths.close()]);
    },
  };
}

/** Whether the connection broke before the request was sent, or was an idle connection that the site had closed. */
function isWorthASecondTry(
  { error, isSent, isStale }: Extract<ExchangeEnd, { kind: "failed" }>,
  { mayRepeat = true }: Terms,
): boolean {
  return (!isSent || (isStale && mayRepeat)) && isBrokenConnection(error);
}

/** Adds the received bytes to a failure of a request through a proxy, whose provider may charge for them. */
function withReceived(
  result: HttpAnswer | TransportFailure,
  end: ExchangeEnd,
  { exit }: HttpRequest,
): HttpAnswer | TransportFailure {
  const isCounted =
    exit !== undefined && result.kind !== "answer" && end.kind !== "withdrawn" && end.kind !== "undecodable";
  return isCounted ? { ...result, receivedBytes: end.receivedBytes } : result;
}

async function toResult(end: ExchangeEnd, request: HttpRequest): Promise<HttpAnswer | TransportFailure> {
  const { limits, overflow } = request;
  const bodyBytes = limits.bodyBytes;
  switch (end.kind) {
    case "too_big":
      return { kind: "dead", because: "too_big", detail: `the body is over limits.bodyBytes (${bodyBytes})` };
    case "undecodable":
      return { kind: "dead", because: "bad_response", detail: end.detail };
    case "withdrawn":
      return {
        kind: "retry",
        because: "network",
        detail: `could not be sent in ${MAX_WITHDRAWALS} turns: this machine is too busy`,
      };
    case "failed":
      return failed(end.error);
    case "answer":
      return decoded(end, { bodyBytes, overflow });
  }
}

function failed(error: unknown): TransportFailure {
  // The request itself was invalid. It did not reach the site.
  if (error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError) {
    const message = `the request is invalid: ${error.message}; correct the headers of the job or request`;
    throw new TrawlError("BAD_JOB", { op: "http.send", message, cause: error });
  }
  return transportFailure(error);
}

type Limits = Pick<FetchLimits, "bodyBytes"> & Pick<ExchangeTerms, "overflow">;

async function decoded(
  end: Extract<ExchangeEnd, { kind: "answer" }>,
  limits: Limits,
): Promise<HttpAnswer | TransportFailure> {
  const content = await decodeContent(end.body, end.codings, limits);
  switch (content.kind) {
    case "decoded":
      return { ...end, body: content.body, isCut: end.isCut || content.isCut };
    case "too_big":
      return { kind: "dead", because: "too_big", detail: `the body is over limits.bodyBytes (${limits.bodyBytes})` };
    case "truncated":
      return { kind: "retry", because: "network", detail: "the compressed body is incomplete" };
    case "corrupt":
      return { kind: "dead", because: "bad_response", detail: `the compressed body is corrupt (${content.detail})` };
  }
}

const NO_HEADERS = {};

function merged(own: Readonly<Record<string, string>>, more: Readonly<Record<string, string>>): Record<string, string> {
  for (const _ in more) return { ...own, ...more };
  return own;
}
