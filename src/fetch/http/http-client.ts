/**
 * Requests one URL within its slot, without following redirects. Used by the fetcher (pages) and the robots policy.
 *
 * Every request that reaches a site has its own slot. A request that misses its slot is withdrawn and gets another
 * slot. If a connection was stale, the retry on a new connection also needs a slot.
 */
import { setMaxListeners } from "node:events";
import { errors } from "undici";
import type { Slot } from "../../domain/politeness.ts";
import { TrawlError } from "../../errors.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { EgressGate } from "../egress/gate.ts";
import type { Allowance, FetchLimits } from "../fetcher.ts";
import { type ConnectionOptions, createConnections } from "./connections.ts";
import { ACCEPT_ENCODING, decodeContent } from "./content-coding.ts";
import { Exchange, type ExchangeEnd, type ExchangeTerms } from "./exchange.ts";
import { isBrokenConnection, type TransportFailure, transportFailure } from "./transport-error.ts";

type HttpClientDeps = { gate: EgressGate; allowance: Allowance; clock: Clock };

export type HttpClientOptions = ConnectionOptions & { userAgent: string };

type HttpRequest = ExchangeTerms & {
  /** Canonical. */
  url: string;
  site: string;
  headers: Readonly<Record<string, string>>;
  /** The body of a POST; undefined: GET. The request may arrive twice. */
  post?: string;
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
};

type Terms = Omit<HttpRequest, "url" | "site">;

export type HttpClient = {
  /** Throws only the signal's reason when aborted, never because of the site. */
  send(request: HttpRequest): Promise<HttpAnswer | TransportFailure>;
  close(): Promise<void>;
};

/**
 * A process that has just started, or that has too little CPU, may miss all slots for some seconds. The page is not the
 * cause. After fifty missed slots in a row, the client retries once per second, for almost a minute, before it fails.
 */
const MAX_MISSED_SLOTS = 100;
const MISSED_BEFORE_PAUSES = 50;
const MISSED_PAUSE_MS = 1_000;

/**
 * A slot is shorter than the time to open a connection, and idle connections close. If the slot begins later than this,
 * the client first dispatches a request that opens the connection and is withdrawn. So the connection is open when the
 * slot begins.
 */
const COLD_AFTER_MS = 3_000;
const WARM_UP_MS = 1_000;

const ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

export function createHttpClient({ gate, allowance, clock }: HttpClientDeps, options: HttpClientOptions): HttpClient {
  const connections = createConnections(gate, options);
  const ownHeaders: Readonly<Record<string, string>> = {
    "user-agent": options.userAgent,
    accept: ACCEPT,
    "accept-language": "en,*;q=0.5",
    "accept-encoding": ACCEPT_ENCODING,
  };

  function dispatch(url: URL, terms: Terms): Promise<ExchangeEnd> {
    const { origin } = url;
    const { post, headers } = terms;
    const { idleMs } = terms.limits;
    const exchange = new Exchange(clock, terms, {
      isConnectionNew: connections.isNew,
      onWaitEnd: () => connections.endWait(origin),
    });
    connections.beginWait(origin);
    connections.agent.dispatch(
      {
        origin,
        path: url.pathname + url.search,
        ...(post === undefined ? { method: "GET" } : { method: "POST", body: post }),
        headers: merged(ownHeaders, headers),
        headersTimeout: idleMs,
        bodyTimeout: idleMs,
      },
      exchange,
    );
    return exchange.ended;
  }

  /** Retries until the request has reached the site, or cannot reach it. */
  async function exchange(url: URL, { site, ...terms }: HttpRequest): Promise<ExchangeEnd> {
    let isSecondTry = false;
    for (let missed = 0; ; ) {
      const end = await sendInTime(url, terms);
      // undici frees the connection one turn of the event loop after the response. A request that is sent sooner opens
      // another connection.
      await new Promise(setImmediate);
      if (end.kind === "withdrawn") {
        if (++missed > MAX_MISSED_SLOTS) return end;
        if (missed > MISSED_BEFORE_PAUSES) await clock.sleep(MISSED_PAUSE_MS, terms.signal);
        terms.slot = await spend(site, end.because === "used" ? undefined : terms.slot);
      } else if (end.kind === "failed" && !isSecondTry && isWorthASecondTry(end)) {
        isSecondTry = true;
        if (end.isSent) terms.slot = await spend(site, undefined);
      } else {
        return end;
      }
    }
  }

  async function sendInTime(url: URL, terms: Terms): Promise<ExchangeEnd> {
    const { slot, signal } = terms;
    if (slot.sendAt - clock.now() > COLD_AFTER_MS) {
      await waitUntil(slot.sendAt - WARM_UP_MS, clock, signal);
      const early = await dispatch(url, terms);
      if (early.kind !== "withdrawn" || early.because !== "early") return early;
    }
    if (slot.sendAt > clock.now()) await waitUntil(slot.sendAt, clock, signal);
    signal.throwIfAborted();
    return dispatch(url, terms);
  }

  function spend(site: string, unused: Slot | undefined): Promise<Slot> {
    return unused === undefined ? allowance.spend(site) : allowance.spend(site, unused);
  }

  return {
    async send(request) {
      // One signal may belong to many requests, and Node reports more than ten listeners as a leak.
      setMaxListeners(0, request.signal);
      const url = new URL(request.url);
      const refusal = gate.check(url);
      if (refusal !== undefined) return { kind: "dead", because: "egress_refused", detail: refusal };
      const end = await exchange(url, request);
      return end.kind === "answer" && end.codings.length === 0 ? end : settled(end, request);
    },
    close: () => connections.agent.destroy(),
  };
}

/** The site has closed the idle connection. A retry is safe for a GET, or for a request that may arrive twice. */
function isWorthASecondTry({ error, isSent, isStale }: Extract<ExchangeEnd, { kind: "failed" }>): boolean {
  return (isStale || !isSent) && isBrokenConnection(error);
}

async function waitUntil(at: number, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let leftMs = at - clock.now(); leftMs > 0 && !signal.aborted; leftMs = at - clock.now()) {
    // Timers have millisecond resolution; at 1,000 requests per second a slot is half a millisecond wide.
    if (leftMs >= 1) await clock.sleep(Math.floor(leftMs), signal);
    else await new Promise(setImmediate);
  }
}

async function settled(end: ExchangeEnd, request: HttpRequest): Promise<HttpAnswer | TransportFailure> {
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
        detail: `missed its slot ${MAX_MISSED_SLOTS} times: this machine is too busy`,
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
    const message = `a request cannot be made: ${error.message}; correct the job's headers`;
    throw new TrawlError("BAD_JOB", { op: "http.ask", message, cause: error });
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
      return { kind: "retry", because: "network", detail: "the compressed body ends too soon" };
    case "corrupt":
      return { kind: "dead", because: "bad_response", detail: `the compressed body is corrupt (${content.detail})` };
  }
}

function merged(own: Readonly<Record<string, string>>, more: Readonly<Record<string, string>>): Record<string, string> {
  for (const _ in more) return { ...own, ...more };
  return own;
}
