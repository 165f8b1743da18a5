/**
 * One request and its answer on one connection: the handler undici calls back. Made for one dispatch, used once.
 *
 * The slot rule lives here. `onRequestStart` is called right before the bytes are written, possibly long after the
 * dispatch, because a connection had to be opened or become free. Throwing there is the only way to withdraw a request
 * that costs nothing: undici fails the request, writes nothing and keeps the connection.
 */
import type { Dispatcher } from "undici";
import type { Slot } from "../../domain/politeness.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { FetchLimits } from "../fetcher.ts";
import { type Coding, compressedMost, parseCodings } from "./content-coding.ts";
import { statusVerdict } from "./status-policy.ts";
import { TOTAL_TIMEOUT } from "./transport-error.ts";

export type ExchangeTerms = {
  slot: Slot;
  limits: FetchLimits;
  /** What becomes of a body over `limits.bodyBytes`: none of it is wanted, or its beginning. */
  overflow: "refuse" | "cut";
  /** Only the status and headers are wanted: a body that is long, slow or broken off takes nothing from them. */
  ignoresBody?: boolean;
  signal: AbortSignal;
};

export type ExchangeHooks = {
  /** Asked at the moment of sending. */
  isConnectionNew(): boolean;
  /** Told once: the request has been sent, or will not be. */
  onWaitEnd(): void;
};

export type ExchangeEnd =
  | {
      kind: "answer";
      status: number;
      headers: Record<string, string>;
      /** As it came, still encoded. Empty unless the status makes a page. */
      body: Buffer;
      codings: readonly Coding[];
      isCut: boolean;
      sentAt: number;
      endedAt: number;
    }
  | { kind: "too_big" }
  | { kind: "undecodable"; detail: string }
  /** Nothing was sent: the slot had not come, had passed, or had been used. The connection is open and idle. */
  | { kind: "withdrawn"; because: "early" | "late" | "used" }
  | { kind: "failed"; error: unknown; isSent: boolean /** An idle connection was found dead. */; isStale: boolean };

/** So much of a body nobody wants is read to keep the connection; more, and a new connection is cheaper. */
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
  #isSlotUsed = false;
  #sentAt = 0;
  #status = 0;
  #headers: Record<string, string> = {};
  #codings: readonly Coding[] = [];
  #isBodyWanted = false;
  #bytesMost = 0;
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
    // Aborted while it waited for a connection: the promise has been rejected, and nothing may leave any more.
    if (this.#isOver) throw new Withdrawn("late");
    const now = this.#clock.now();
    // A second start would be undici sending again by itself, on a slot that is spent.
    if (this.#isSlotUsed) throw new Withdrawn("used");
    if (now < this.#terms.slot.sendAt) throw new Withdrawn("early");
    if (now > this.#terms.slot.sendBy) throw new Withdrawn("late");
    this.#isSlotUsed = true;
    this.#sentAt = now;
    this.#isReused = !this.#hooks.isConnectionNew();
    this.#hooks.onWaitEnd();
    this.#controller = controller;
    // Not the clock's sleep: one plain timer costs a tenth of a promise with an abort signal.
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
    if (status < 200) return; // 103 Early Hints and its like: the answer is still to come
    this.#status = status;
    this.#headers = flattened(headers);
    const verdict = statusVerdict(status);
    this.#isBodyWanted = verdict.kind === "page" && verdict.hasBody && this.#terms.ignoresBody !== true;
    if (this.#isBodyWanted) this.#expectBody();
    else this.#bytesMost = DRAIN_BYTES;
    const declared = Number(this.#headers["content-length"]);
    if (declared > this.#bytesMost && !(this.#isBodyWanted && this.#terms.overflow === "cut")) this.#overflow();
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    this.#bytes += chunk.length;
    if (this.#isBodyWanted) this.#chunks.push(chunk);
    if (this.#bytes > this.#bytesMost) this.#overflow();
  }

  onResponseEnd(): void {
    this.#end(this.#answer(false));
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (error instanceof Withdrawn) this.#end({ kind: "withdrawn", because: error.because });
    else this.fail(error);
  }

  /** Ends it for an error, unless all that was wanted of the answer is there. */
  fail(error: unknown): void {
    const isStale = this.#isReused && !this.#hasAnswerBegun;
    if (this.#status !== 0 && !this.#isBodyWanted) this.#abandon(this.#answer(false));
    else this.#abandon({ kind: "failed", error, isSent: this.#isSlotUsed, isStale });
  }

  #expectBody(): void {
    const { bodyBytes } = this.#terms.limits;
    const codings = parseCodings(this.#headers["content-encoding"]);
    if (typeof codings === "string") {
      this.#abandon({ kind: "undecodable", detail: codings });
    } else {
      this.#codings = codings;
      this.#bytesMost = codings.length === 0 ? bodyBytes : compressedMost(bodyBytes);
    }
  }

  #overflow(): void {
    if (!this.#isBodyWanted) this.#abandon(this.#answer(false));
    else if (this.#terms.overflow === "cut") this.#abandon(this.#answer(true));
    else this.#abandon({ kind: "too_big" });
  }

  #answer(isCut: boolean): ExchangeEnd {
    const [first] = this.#chunks;
    const whole = this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks, this.#bytes);
    const body = this.#isBodyWanted ? whole.subarray(0, this.#bytesMost) : NOTHING;
    const [status, headers, codings, sentAt] = [this.#status, this.#headers, this.#codings, this.#sentAt];
    return { kind: "answer", status, headers, body, codings, isCut, sentAt, endedAt: this.#clock.now() };
  }

  /** Ends it with the rest of the answer unread, which takes the connection with it. */
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
    if (!this.#isSlotUsed) this.#hooks.onWaitEnd();
    this.#terms.signal.removeEventListener("abort", this.#onAbort);
  }
}

/** Thrown to keep undici from sending; comes back to `onResponseError`. */
class Withdrawn extends Error {
  readonly because: "early" | "late" | "used";

  constructor(because: "early" | "late" | "used") {
    super(because);
    this.because = because;
  }
}

/** Given to undici to end an answer that is not read on; comes back when all is over. */
class Unwanted extends Error {}

const NOTHING = Buffer.alloc(0);

function ignore(): void {}

function expire(exchange: Exchange): void {
  exchange.fail(Object.assign(new Error("limits.totalMs is over"), { code: TOTAL_TIMEOUT }));
}

/** Several headers of one name become one value; cookies cannot be joined by commas, which they contain. */
function flattened(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  for (const name in headers) {
    const value = headers[name];
    if (Array.isArray(value)) headers[name] = value.join(name === "set-cookie" ? "\n" : ", ");
  }
  return headers as Record<string, string>;
}
