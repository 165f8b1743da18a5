/**
 * Finds how much of its rate a site can serve, from its responses (docs/decisions/027-adaptive-rate.md). Pure: no clock
 * and no timers. Responses are judged in blocks. A block with errors, or with a much longer response time than usual,
 * lowers the share of the rate, and a good block raises it. If half of the requests cause the same errors, the errors do
 * not depend on the load, and the share is restored.
 */
import type { SlowdownCause } from "../../domain/slowdown.ts";

/** The result of one request. */
export type SiteResponse = {
  /** When the request was started. */
  startedAt: number;
  /** The error of a failed request, such as `503` or `timeout`. Undefined if the response was good. */
  error: string | undefined;
  /** The response time, if it depends on the site only. */
  tookMs: number | undefined;
};

const BLOCK = 20;
/** A block ends early if this many responses have arrived and all of them are errors. */
const EARLY = 5;
/** The further a bad block is over the limit, the more it lowers the share: at most to this fraction of the share. */
const DROP = 0.8;
/** The nth good block in a row raises the share by n times this number. */
const GROWTH = 0.01;
/** Near the share that last caused errors, the nth good block raises the share only by n times this number. */
const CAUTIOUS_GROWTH = 0.003;
/** "Near" is between these multiples of the share that last caused errors. */
const NEAR = { from: 0.85, to: 1.05 };
const LEAST_SHARE = 1 / 16;
/** A longer time between two responses means that the site had no tasks. */
const LONGEST_GAP_MS = 5_000;
/** A site is not slowed down to less than one request in this time. */
const LONGEST_INTERVAL_MS = 10_000;
/** A value below this fraction of its earlier value is clearly lower. */
const CLEARLY_LESS = 0.75;
/** With fewer good responses, the goodput is not known well enough. */
const ENOUGH_GOOD = 10;
/** If a larger share of requests fails, the site is in trouble, whether that depends on the load or not. */
const MOST_TOLERATED = 0.5;
/**
 * How far one block moves the usual value towards its own: for a shorter response time, a longer one, and a share of
 * errors.
 */
const FOLLOW = { shorter: 0.1, longer: 0.02, errors: 0.02 };

type Block = { responses: number; lastedMs: number; errors: Map<string, number>; timed: number; totalMs: number };

/** A block that has ended. `share`: the share of the rate during the block. */
type Judged = { share: number; responses: number; lastedMs: number; errorShare: number; tookMs: number | undefined };

/** The sums of several blocks. */
type Pool = { responses: number; errors: number; lastedMs: number };

/**
 * The blocks since the first bad block. The first block is not in the pools, because it may have used capacity that the
 * site had saved while it was idle. `lower`: the blocks at half of the first block's share or less. `upper`: the
 * others.
 */
type Descent = { first: Judged; upper: Pool; lower: Pool };

export class SiteSpeed {
  #share = 1;
  #leastShare = LEAST_SHARE;
  #changedAt = 0;
  #lastAt: number | undefined;
  #block = emptyBlock();
  #goodBlocks = 0;
  /** The share of errors that do not depend on the load, and how far it may rise. */
  #tolerated = 0;
  #mostTolerated = 0;
  #usualMs: number | undefined;
  #descent: Descent | undefined;
  /** The share that last caused errors. Undefined if there is none, or if a clearly larger share caused no errors. */
  #ceiling: number | undefined;
  #cause: SlowdownCause | undefined;

  /** At least 1. Three decimals are enough, and short to store. */
  get slowdown(): number {
    return Math.round(1000 / this.#share) / 1000;
  }

  /** Undefined at the full rate, and until the first bad block. */
  get cause(): SlowdownCause | undefined {
    return this.slowdown === 1 ? undefined : this.#cause;
  }

  /**
   * Replaces the slowdown by that of another worker, or by 1 if the broker has forgotten it or the job does not adapt
   * its rate.
   */
  adopt(slowdown: number, now: number): void {
    this.#share = Math.min(1, 1 / slowdown);
    this.#cause = undefined;
    this.#restart(now);
  }

  /** Limits the slowdown. `intervalMs`: the interval of the site at its full rate. */
  limitTo(intervalMs: number): void {
    this.#leastShare = Math.max(LEAST_SHARE, Math.min(1, intervalMs / LONGEST_INTERVAL_MS));
  }

  add({ startedAt, error, tookMs }: SiteResponse, now: number): void {
    // Pauses of the site count, because errors that cause pauses lower the goodput too.
    const sinceLastMs = Math.min(LONGEST_GAP_MS, now - (this.#lastAt ?? startedAt));
    this.#lastAt = now;
    this.#block.lastedMs += sinceLastMs;
    // A request from before the last change says nothing about the current share.
    if (startedAt < this.#changedAt) return;
    const block = this.#block;
    block.responses += 1;
    if (error !== undefined) block.errors.set(error, (block.errors.get(error) ?? 0) + 1);
    else if (tookMs !== undefined) {
      block.timed += 1;
      block.totalMs += tookMs;
    }
    if (block.responses === BLOCK || this.#endsEarly(block)) this.#endBlock(block, now);
  }

  #endsEarly(block: Block): boolean {
    return block.responses === EARLY && errorsOf(block) === EARLY;
  }

  #endBlock(block: Block, now: number): void {
    this.#block = emptyBlock();
    const tookMs = block.timed < EARLY ? undefined : block.totalMs / block.timed;
    const { responses, lastedMs } = block;
    const judged = { share: this.#share, responses, lastedMs, errorShare: errorsOf(block) / responses, tookMs };
    const hasErrors = judged.errorShare > this.#congestedAt();
    if (hasErrors || (tookMs ?? 0) > this.#slowAt())
      this.#slowDown(judged, this.#causeOf(block, judged, hasErrors), now);
    else this.#speedUp(judged);
  }

  /** A share of errors above this means congestion. */
  #congestedAt(): number {
    return this.#tolerated === 0 ? 0 : this.#tolerated + Math.min(0.15, 0.5 * this.#tolerated + 0.05);
  }

  /** A response time above this means congestion. */
  #slowAt(): number {
    return this.#usualMs === undefined ? Number.POSITIVE_INFINITY : 2 * this.#usualMs + 100;
  }

  #causeOf(block: Block, { errorShare, tookMs = 0 }: Judged, hasErrors: boolean): SlowdownCause {
    if (!hasErrors) return { kind: "latency", ms: Math.round(tookMs), usualMs: Math.round(this.#usualMs ?? 0) };
    const [error] = [...block.errors].sort(([, one], [, other]) => other - one)[0] ?? ["errors"];
    return { kind: "errors", percent: Math.round(errorShare * 100), error };
  }

  #speedUp(judged: Judged): void {
    this.#goodBlocks += 1;
    this.#share = Math.min(1, this.#share * (1 + this.#growth() * this.#goodBlocks));
    if (this.#share >= (this.#descent?.first.share ?? 0)) this.#descent = undefined;
    else this.#descend(judged);
    this.#tolerated = Math.min(this.#mostTolerated, toleratedAfter(this.#tolerated, judged.errorShare));
    this.#usualMs = usualAfter(this.#usualMs, judged.tookMs);
  }

  #growth(): number {
    if (this.#ceiling === undefined || this.#share < NEAR.from * this.#ceiling) return GROWTH;
    if (this.#share < NEAR.to * this.#ceiling) return CAUTIOUS_GROWTH;
    this.#ceiling = undefined;
    this.#goodBlocks = 1;
    return GROWTH;
  }

  #slowDown(judged: Judged, cause: SlowdownCause, now: number): void {
    const descent = this.#descend(judged);
    const isHalved = judged.share <= descent.first.share / 2;
    const restored = isHalved ? this.#shareToRestore(judged, descent, cause.kind) : undefined;
    const { errorShare, tookMs = 0 } = judged;
    const part = cause.kind === "errors" ? 1 - (errorShare - this.#congestedAt()) : this.#slowAt() / tookMs;
    this.#share = restored ?? Math.max(this.#leastShare, this.#share * Math.max(DROP, part));
    this.#ceiling = restored === undefined && cause.kind === "errors" ? judged.share : undefined;
    this.#cause = cause;
    this.#restart(now, restored === undefined ? descent : undefined);
  }

  #descend(judged: Judged): Descent {
    this.#descent ??= { first: judged, upper: emptyPool(), lower: emptyPool() };
    const { first, upper, lower } = this.#descent;
    if (judged !== first) addTo(judged.share > first.share / 2 ? upper : lower, judged);
    return this.#descent;
  }

  /** The share to return to, because the trouble does not depend on the load. Undefined if it does. */
  #shareToRestore(judged: Judged, { first, upper, lower }: Descent, kind: SlowdownCause["kind"]): number | undefined {
    if (kind === "errors") return this.#shareIfBroken(judged, upper, lower, first.share);
    const { tookMs = 0 } = judged;
    if (tookMs < CLEARLY_LESS * (first.tookMs ?? Number.POSITIVE_INFINITY)) return undefined;
    this.#usualMs = tookMs;
    return first.share;
  }

  /**
   * If fewer requests cause the same share of errors, tolerates these errors from now on and returns the share of the
   * rate to return to. Otherwise returns undefined.
   */
  #shareIfBroken(judged: Judged, upper: Pool, lower: Pool, firstShare: number): number | undefined {
    const isKnown = goodOf(upper) >= ENOUGH_GOOD && lower.responses >= BLOCK;
    if (!isKnown || goodputOf(lower) >= CLEARLY_LESS * goodputOf(upper)) return undefined;
    const [before, after] = [errorShareOf(upper), errorShareOf(lower)];
    const uncertainty = 1 / Math.sqrt(upper.responses);
    // With more errors than before, the site itself has changed.
    if (after > 1.5 * before + uncertainty || after > MOST_TOLERATED) return undefined;
    // With clearly fewer errors, some of the earlier errors were caused by the load, down to about the current share of
    // the rate.
    const isPartlyLoad = after < CLEARLY_LESS * before - uncertainty;
    this.#tolerated = isPartlyLoad ? Math.min(after, judged.errorShare) : after;
    // The estimate is rough, and the actual share may be higher.
    this.#mostTolerated = Math.min(MOST_TOLERATED, 1.25 * this.#tolerated + 0.05);
    return isPartlyLoad ? judged.share / DROP : firstShare;
  }

  #restart(now: number, descent?: Descent): void {
    this.#changedAt = now;
    this.#block = emptyBlock();
    this.#goodBlocks = 0;
    this.#descent = descent;
  }
}

function emptyBlock(): Block {
  return { responses: 0, lastedMs: 0, errors: new Map(), timed: 0, totalMs: 0 };
}

function errorsOf({ errors }: Block): number {
  let sum = 0;
  for (const count of errors.values()) sum += count;
  return sum;
}

function emptyPool(): Pool {
  return { responses: 0, errors: 0, lastedMs: 0 };
}

function addTo(pool: Pool, { responses, errorShare, lastedMs }: Judged): void {
  pool.responses += responses;
  pool.errors += responses * errorShare;
  pool.lastedMs += lastedMs;
}

function goodOf({ responses, errors }: Pool): number {
  return responses - errors;
}

/** Good responses per millisecond. */
function goodputOf(pool: Pool): number {
  return pool.lastedMs === 0 ? 0 : goodOf(pool) / pool.lastedMs;
}

function errorShareOf({ responses, errors }: Pool): number {
  return responses === 0 ? 0 : errors / responses;
}

/** Moves the tolerated share of errors towards the actual one. A very small share becomes 0. */
function toleratedAfter(tolerated: number, errorShare: number): number {
  const next = tolerated + FOLLOW.errors * (errorShare - tolerated);
  return tolerated === 0 || next < 0.001 ? 0 : next;
}

function usualAfter(usualMs: number | undefined, tookMs: number | undefined): number | undefined {
  if (usualMs === undefined || tookMs === undefined) return tookMs ?? usualMs;
  return usualMs + (tookMs - usualMs) * (tookMs < usualMs ? FOLLOW.shorter : FOLLOW.longer);
}
