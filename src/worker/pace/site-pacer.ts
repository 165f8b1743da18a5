import { arrivalAfter, type Rate, type ReturnedTerm, readyAt, type Term } from "../../domain/politeness.ts";

/**
 * A gap between two requests may be shorter than the interval by this time, to make up for a late request. Timers alone
 * are late by up to a millisecond: without this, a site with a rate of 300/s would get only 250 requests per second.
 */
const MAX_SHORT_MS = 0.8;
/**
 * Lateness above this is not made up for. So `n` requests take at least `n - 1` intervals minus this time, and each gap
 * is at least the interval minus MAX_SHORT_MS. At 300/s, a worker that is blocked for 10 ms by a transaction makes up
 * for it within 13 requests; without this, it reached 90 % of the rate.
 */
const MAX_DEBT_MS = 20;

/**
 * Nothing is sent in the last part of a term. Between the last check and the system call that sends the bytes, the
 * process may be interrupted for some milliseconds.
 */
const END_MARGIN_MS = 50;

/**
 * A started request leaves at once if a connection is open. If it must open one, other requests of the site wait for
 * this time at most.
 */
const CONNECT_MS = 20;

/** A shorter delay between the last check and the write is not corrected. */
const SHORT_MS = 0.05;

/** The speed control of the site, see site-speeds.ts. */
type SpeedSource = {
  /** At least 1. */
  slowdown(): number;
  /** The slowdown for the next term. */
  report(): Pick<ReturnedTerm, "slowdown" | "slowdownCause">;
};

/**
 * Spaces the requests of this worker to one site during a term. It computes times but has no timers: the pacer asks it
 * when the next request may start, and the HTTP client asks it again at the moment of sending.
 */
export class SitePacer {
  /** The number of requests sent so far. */
  sent = 0;

  #term: Term;
  #rate: Rate;
  #arrivalAt: number;
  #speed: SpeedSource;
  #expectedUntil = 0;
  #checkedAt = 0;
  /** When the last request left. */
  #leftAt = 0;

  constructor(term: Term, speed: SpeedSource) {
    this.#term = term;
    this.#rate = term;
    this.#arrivalAt = term.arrivalAt;
    this.#speed = speed;
  }

  /** Continues under another term. Requests that were sent under the last term still count. */
  renew(term: Term): void {
    this.#term = term;
    this.#rate = term;
    this.#arrivalAt = Math.max(this.#arrivalAt, term.arrivalAt);
  }

  get term(): Term {
    return this.#term;
  }

  /** The time between two requests. */
  get intervalMs(): number {
    return this.#rate.intervalMs * this.#speed.slowdown();
  }

  /** Ends the term: nothing more is sent under it. */
  end(now: number): void {
    this.#term = { ...this.#term, endsAt: Math.min(this.#term.endsAt, now + END_MARGIN_MS) };
  }

  /** When the next request may be sent. */
  readyAt(): number {
    return Math.max(this.#term.startsAt, readyAt(this.#arrivalAt, this.#rate), this.#gapEndsAt());
  }

  /** With a burst, requests may follow each other at once, and only the arrival time counts. */
  #gapEndsAt(): number {
    return this.#rate.burst > 1 ? 0 : this.#leftAt + this.intervalMs - MAX_SHORT_MS;
  }

  /** When the next request may be started. It may be later than `readyAt` while a started request has not been sent. */
  startAt(): number {
    return Math.max(this.readyAt(), this.#expectedUntil);
  }

  /** Sending stops at this time. */
  stopsAt(): number {
    return this.#term.endsAt - END_MARGIN_MS;
  }

  /** A request was started, and is expected to leave soon. */
  expect(now: number): void {
    this.#expectedUntil = now + Math.max(CONNECT_MS, this.#rate.intervalMs);
  }

  /** The expected request will not be sent. */
  unexpect(): void {
    this.#expectedUntil = 0;
  }

  get isExpecting(): boolean {
    return this.#expectedUntil > 0;
  }

  /** Called at the last moment before the bytes are written. Returns false if they must not be written now. */
  trySend(now: number): boolean {
    if (now < this.readyAt() || now > this.stopsAt()) return false;
    this.sent += 1;
    this.#checkedAt = now;
    this.#expectedUntil = 0;
    this.#leftAt = now;
    // The slowdown adds to the time after a request, but not to the burst. So no request leaves earlier than at full rate.
    const rate = { intervalMs: this.intervalMs, burst: this.#rate.burst };
    const debtMs = rate.burst > 1 ? MAX_SHORT_MS : MAX_DEBT_MS;
    this.#arrivalAt = arrivalAfter(now - debtMs, this.#arrivalAt, rate);
    return true;
  }

  /** Called when the bytes have been written. If that took long, they may have left only now. */
  left(now: number): void {
    const tookMs = now - this.#checkedAt;
    if (tookMs > SHORT_MS) this.#arrivalAt += tookMs;
    this.#leftAt = now;
    this.#checkedAt = now;
  }

  /** A crawl-delay was read: it applies at once. */
  slowDown(intervalMs: number): void {
    if (intervalMs <= this.#rate.intervalMs) return;
    this.#arrivalAt += intervalMs - this.#rate.intervalMs;
    this.#rate = { intervalMs, burst: 1 };
  }

  /**
   * The term as it is returned to the broker. It contains the rate of the requests, so that the broker can convert the
   * arrival time if the rate of the site has changed.
   */
  returned(unstarted: number): ReturnedTerm {
    const { site, number } = this.#term;
    const { intervalMs, burst } = this.#rate;
    // The next term may belong to another worker, which does not know when the last request left.
    const times = { intervalMs, burst, arrivalAt: Math.max(this.#arrivalAt, this.#gapEndsAt()) };
    return { site, number, ...times, unstarted, ...this.#speed.report() };
  }
}
