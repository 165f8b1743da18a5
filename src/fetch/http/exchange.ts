/**
 * One request and its response on one connection: the handler that undici calls. Created for one dispatch, used once.
 *
 * It asks for permission to send. `onRequestStart` is called right before the bytes are written, possibly long after the
 * dispatch, because a connection had to be opened or become free. Throwing there is the only way to withdraw a request
 * at no cost: undici fails the request, writes nothing and keeps the connection.
 */
import type { Dispatcher } from "undici";
import type { Clock } from "../../runtime/clock.ts";
import type { FetchLimits } from "../fetcher.ts";
import { BLOCK_STATUSES } from "./block-signatures.ts";
import { type Coding, maxCompressed, parseCodings } from "./content-coding.ts";
import { statusVerdict } from "./status-policy.ts";
import { TOTAL_TIMEOUT } from "./transport-error.ts";

export type ExchangeTerms = {
  limits: FetchLimits;
  /** A body over `limits.bodyBytes` is rejected or truncated. */
  overflow: "refuse" | "cut";
  /** Whether only status and headers are needed. A long, slow or incomplete body is then no error. */
  ignoresBody?: boolean;
  signal: AbortSignal;
};

type ExchangeHooks = {
  /** Called right before the bytes are written. If it returns false, the request is withdrawn. */
  trySend(): boolean;
  /** Called at the moment of sending. */
  isConnectionNew(): boolean;
  /** Called once, when the request is sent or when it is certain that it will not be sent. */
  onWaitEnd(): void;
};

export type ExchangeEnd =
  | {
      kind: "answer";
      status: number;
      headers: Record<string, string>;
      /** As received, still encoded. Empty unless the status is that of a page. */
      body: Buffer;
      codings: readonly Coding[];
      /** The body of a status that may be a block, still encoded. */
      errorBody?: Buffer;
      isCut: boolean;
      sentAt: number;
      endedAt: number;
      /** The bytes of the body that were received, before decoding. */
      receivedBytes: number;
    }
  | { kind: "too_big"; receivedBytes: number }
  | { kind: "undecodable"; detail: string }
  /** The request needs another turn. The connection is open and idle. */
  | { kind: "withdrawn" }
  | {
      kind: "failed";
      error: unknown;
      isSent: boolean;
      /** An idle connection was found dead. */
      isStale: boolean;
      receivedBytes: number;
    };

/** Up to this much of an unneeded body is read to keep the connection. Beyond that, a new connection is cheaper. */
const DRAIN_BYTES = 65_536;

export class Exchange implements Dispatcher.DispatchHandler {
  /** Rejects with the signal's reason if aborted; otherwise always resolves. */
  readonly ended: Promise<ExchangeEnd>;

  readonly #clock: Clock;
  readonly #terms: ExchangeTerms;
  readonly #hooks: ExchangeHooks;
  #resolve: (end: ExchangeEnd) => void = ignore;
  #reject: (reason: unknown) => void = ignore;
  #controller: Dispatcher.DispatchController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #isReused = false;
  #hasAnswerBegun = false;
  #isSent = false;
  #sentAt = 0;
  #status = 0;
  #headers: Record<string, string> = {};
  #codings: readonly Coding[] = [];
  #isBodyWanted = false;
  #mayBeBlock = false;
  #maxBytes = 0;
  #bytes = 0;
  readonly #chunks: Buffer[] = [];

  constructor(clock: Clock, terms: ExchangeTerms, hooks: ExchangeHooks) {
    this.#clock = clock;
    this.#terms = terms;
    this.#hooks = hooks;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    terms.signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Aborted while waiting for a connection: the promise has been rejected, and nothing may be sent.
    if (this.#isOver) throw new Withdrawn();
    // A second start is a retry by undici itself. It needs another turn.
    if (this.#isSent || !this.#hooks.trySend()) throw new Withdrawn();
    this.#isSent = true;
    this.#sentAt = this.#clock.now();
    this.#isReused = !this.#hooks.isConnectionNew();
    this.#hooks.onWaitEnd();
    this.#controller = controller;
    // Not `clock.sleep`: a plain timer takes a tenth of the CPU time of a promise with an abort signal.
    this.#timer = setTimeout(expire, this.#terms.limits.totalMs, this);
  }

  onResponseStarted(): void {
    this.#hasAnswerBegun = true;
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return; // an informational response such as 103 Early Hints; the final response follows
    this.#status = status;
    this.#headers = flattened(headers);
    const verdict = statusVerdict(status);
    this.#isBodyWanted = verdict.kind === "page" && verdict.hasBody && this.#terms.ignoresBody !== true;
    if (this.#isBodyWanted) this.#expectBody();
    else {
      this.#maxBytes = DRAIN_BYTES;
      this.#mayBeBlock = BLOCK_STATUSES.includes(status);
    }
    const declared = Number(this.#headers["content-length"]);
    if (declared > this.#maxBytes && !(this.#isBodyWanted && this.#terms.overflow === "cut")) this.#overflow();
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#bytes += chunk.length;
    if (this.#isBodyWanted || this.#mayBeBlock) this.#chunks.push(chunk);
    if (this.#bytes > this.#maxBytes) this.#overflow();
  }

  onResponseEnd(): void {
    this.#end(this.#answer(false));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (error instanceof Withdrawn) this.#end({ kind: "withdrawn" });
    else this.fail(error);
  }

  /** Ends the exchange with an error, unless the needed part of the response has arrived. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    const isStale = this.#isReused && !this.#hasAnswerBegun;
    if (this.#status !== 0 && !this.#isBodyWanted) this.#abandon(this.#answer(false));
    else this.#abandon({ kind: "failed", error, isSent: this.#isSent, isStale, receivedBytes: this.#bytes });
  }

  #expectBody(): void {
    const { bodyBytes } = this.#terms.limits;
    const codings = parseCodings(this.#headers["content-encoding"]);
    if (typeof codings === "string") {
      this.#abandon({ kind: "undecodable", detail: codings });
    } else {
      this.#codings = codings;
      this.#maxBytes = codings.length === 0 ? bodyBytes : maxCompressed(bodyBytes);
    }
  }

  #overflow(): void {
    if (!this.#isBodyWanted) this.#abandon(this.#answer(false));
    else if (this.#terms.overflow === "cut") this.#abandon(this.#answer(true));
    else this.#abandon({ kind: "too_big", receivedBytes: this.#bytes });
  }

  #answer(isCut: boolean): ExchangeEnd {
    const [first] = this.#chunks;
    const whole = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks, this.#bytes);
    const body = this.#isBodyWanted ? whole.subarray(0, this.#maxBytes) : NOTHING;
    const [status, headers, codings, sentAt] = [this.#status, this.#headers, this.#codings, this.#sentAt];
    const [endedAt, receivedBytes] = [this.#clock.now(), this.#bytes];
    const end = { kind: "answer", status, headers, body, codings, isCut, sentAt, endedAt, receivedBytes } as const;
    return this.#mayBeBlock ? { ...end, errorBody: whole } : end;
  }

  /** Ends the exchange without reading the rest of the response. This closes the connection. */
  #abandon(end: ExchangeEnd): void {
    this.#end(end);
    this.#controller?.abort(new Unwanted());
  }

  #end(end: ExchangeEnd): void {
    if (this.#isOver) return;
    this.#close();
    this.#resolve(end);
  }

  readonly #onAbort = (): void => {
    if (this.#isOver) return;
    this.#close();
    this.#reject(this.#terms.signal.reason);
    this.#controller?.abort(new Unwanted());
  };

  #close(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (!this.#isSent) this.#hooks.onWaitEnd();
    this.#terms.signal.removeEventListener("abort", this.#onAbort);
  }
}

/** Thrown so that undici does not send the request. undici passes it to `onResponseError`. */
class Withdrawn extends Error {}

/** The reason with which undici aborts a response. undici then passes it to `onResponseError`. */
class Unwanted extends Error {}

const NOTHING = Buffer.alloc(0);

function ignore(): void {}

/**
 * Timers run before sockets are read. If the process was blocked or got no CPU time, the response may have arrived
 * already, so it is read first.
 */
function expire(exchange: Exchange): void {
  setImmediate(endLate, exchange);
}

function endLate(exchange: Exchange): void {
  exchange.fail(Object.assign(new Error("limits.totalMs is over"), { code: TOTAL_TIMEOUT }));
}

/** Joins repeated headers. Cookies contain commas, so they are joined by line breaks. */
function flattened(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  for (const name in headers) {
    const value = headers[name];
    if (Array.isArray(value)) headers[name] = value.join(name === "set-cookie" ? "\n" : ", ");
  }
  return headers as Record<string, string>;
}
