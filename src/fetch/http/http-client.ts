/**
 * Asks for one URL within its slot, following nothing. Shared by the fetcher (pages) and the robots policy.
 *
 * Every request that reaches a site has had a slot of its own: one that comes too late to its slot is withdrawn and buys
 * another, and a second try on a fresh connection after a stale one is paid for like any other request.
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

export type HttpClientDeps = { gate: EgressGate; allowance: Allowance; clock: Clock };

export type HttpClientOptions = ConnectionOptions & { userAgent: string };

export type HttpAsk = ExchangeTerms & {
  /** Canonical. */
  url: string;
  site: string;
  headers: Readonly<Record<string, string>>;
  /** What is posted; undefined: it is a GET. Whoever posts must not mind that it may arrive twice. */
  post?: string;
};

export type HttpAnswer = {
  kind: "answer";
  status: number;
  /** Names in lower case; repeated headers are joined by ", ", cookies by a line break. */
  headers: Readonly<Record<string, string>>;
  /** Decoded; empty unless the status makes a page. */
  body: Buffer;
  isCut: boolean;
  sentAt: number;
  endedAt: number;
};

type Terms = Omit<HttpAsk, "url" | "site">;

export type HttpClient = {
  /** Never throws for what a site does; throws the signal's reason when aborted. */
  ask(request: HttpAsk): Promise<HttpAnswer | TransportFailure>;
  close(): Promise<void>;
};

/**
 * A process that has just started, or shares its processor with too many, misses slot after slot for some seconds. That
 * is no fault of the page: after fifty in a row it tries once a second, for almost a minute, before the try is given up.
 */
const LAPSES_MOST = 100;
const LAPSES_AT_ONCE = 50;
const LAPSE_PAUSE_MS = 1_000;

/**
 * Slots are narrower than opening a connection takes, and idle connections close. Before a slot this far off a request is
 * dispatched early, which opens the connection and is withdrawn, so that the real one finds it open.
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

  function send(url: URL, terms: Terms): Promise<ExchangeEnd> {
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

  /** Sends until something of the request has reached the site, or it is clear that nothing will. */
  async function exchange(url: URL, { site, ...terms }: HttpAsk): Promise<ExchangeEnd> {
    let isSecondTry = false;
    for (let lapses = 0; ; ) {
      const end = await sendInTime(url, terms);
      // undici frees the connection a turn of the event loop after the answer: whoever sends sooner opens another.
      await new Promise(setImmediate);
      if (end.kind === "withdrawn") {
        if (++lapses > LAPSES_MOST) return end;
        if (lapses > LAPSES_AT_ONCE) await clock.sleep(LAPSE_PAUSE_MS, terms.signal);
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
      const early = await send(url, terms);
      if (early.kind !== "withdrawn" || early.because !== "early") return early;
    }
    if (slot.sendAt > clock.now()) await waitUntil(slot.sendAt, clock, signal);
    signal.throwIfAborted();
    return send(url, terms);
  }

  function spend(site: string, unused: Slot | undefined): Promise<Slot> {
    return unused === undefined ? allowance.spend(site) : allowance.spend(site, unused);
  }

  return {
    async ask(request) {
      // One signal often stands for many requests, and Node takes more than ten listeners for a leak.
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

/** The site's side of the idle connection had gone; nothing of the request may have been acted upon but a GET, or what may arrive twice. */
function isWorthASecondTry({ error, isSent, isStale }: Extract<ExchangeEnd, { kind: "failed" }>): boolean {
  return (isStale || !isSent) && isBrokenConnection(error);
}

async function waitUntil(at: number, clock: Clock, signal: AbortSignal): Promise<void> {
  for (let leftMs = at - clock.now(); leftMs > 0 && !signal.aborted; leftMs = at - clock.now()) {
    // Timers count whole milliseconds; at 1,000 requests a second the slot is half of one wide.
    if (leftMs >= 1) await clock.sleep(Math.floor(leftMs), signal);
    else await new Promise(setImmediate);
  }
}

async function settled(end: ExchangeEnd, request: HttpAsk): Promise<HttpAnswer | TransportFailure> {
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
        detail: `missed its slot ${LAPSES_MOST} times: this machine is too busy`,
      };
    case "failed":
      return failed(end.error);
    case "answer":
      return decoded(end, { bodyBytes, overflow });
  }
}

function failed(error: unknown): TransportFailure {
  // Our own request was impossible: no site had a part in it.
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
