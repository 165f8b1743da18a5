/**
 * Rate limits of a site. They use GCRA: the state of a site is one instant, the theoretical arrival time. Pure
 * functions: the broker stores the instant between terms, and the worker that holds the term keeps it during the term.
 */
import type { SlowdownCause } from "./slowdown.ts";
import type { Throttling } from "./throttling.ts";

export type SitePolicy = {
  /** The least time between two requests, ms; 0 means unlimited. */
  intervalMs: number;
  /** How many requests may be sent at once after an idle time. */
  burst: number;
  /** How many requests may run at once. */
  perSite: number;
};

/** The policy of offline sites (offline-site.ts), which get no requests. */
export const UNLIMITED: SitePolicy = { intervalMs: 0, burst: 1, perSite: 1_000_000 };

/** The part of a policy that spaces requests. */
export type Rate = Pick<SitePolicy, "intervalMs" | "burst">;

/**
 * The right to send requests to a site: until `endsAt`, only the worker that holds the term may send to the site. The
 * worker spaces its requests itself. A site without a rate needs no term.
 */
export type Term = Rate & {
  site: string;
  /** Grows with each term of the site. The worker sends it when it returns the term. */
  number: number;
  /** The first request may be sent at this time. */
  startsAt: number;
  /** Nothing may be sent after this time. */
  endsAt: number;
  /** The arrival time of the site at the start of the term. */
  arrivalAt: number;
  /** How many requests the worker may run at once, in addition to those that it runs at the start of the term. */
  concurrent: number;
  /** Requests are spaced by the interval times this number, at least 1. */
  slowdown: number;
  /** The state of the site at the start of the term. */
  throttling: Throttling;
};

/** A term that its worker returns, with the arrival time after its last request under the rate of the term. */
export type ReturnedTerm = Rate & {
  site: string;
  number: number;
  arrivalAt: number;
  /** Tasks of the site that the worker holds and has not started. */
  unstarted: number;
  /** The slowdown for the next term. */
  slowdown: number;
  /** Undefined if it has not changed. */
  slowdownCause: SlowdownCause | undefined;
};

/** The length of a term. Changes of rate, priority and state reach a site after this time at the latest. */
export const TERM_MS = 2_000;

/**
 * A term gets as many tasks as the site can serve in this time, which is half of the term. The other half is a reserve
 * for a busy worker, because tasks that it cannot start within the term must be released.
 */
const TERM_WORK_MS = 1_000;

/** When the next request may be sent. */
export function readyAt(arrivalAt: number, { intervalMs, burst }: Rate): number {
  return arrivalAt - (burst - 1) * intervalMs;
}

/** The arrival time after a request at `sentAt`. */
export function arrivalAfter(sentAt: number, arrivalAt: number, { intervalMs }: Rate): number {
  return Math.max(arrivalAt, sentAt) + intervalMs;
}

/**
 * The arrival time of a site after a term whose worker crashed. It assumes that the worker sent the whole burst at the
 * end of the term.
 */
export function arrivalAfterTerm(endsAt: number, { intervalMs, burst }: Rate): number {
  return endsAt + burst * intervalMs;
}

/** How many tasks a term contains, up to `max`. */
export function tasksPerTerm({ intervalMs, burst }: Rate, slowdown: number, max: number): number {
  return Math.min(max, Math.max(1, burst, Math.floor(TERM_WORK_MS / (intervalMs * slowdown))));
}

/**
 * How many requests to a site may run at once. After a backoff it is one, until a response is good. `incidents`: the
 * number of backoffs in a row.
 */
export function concurrencyOf(perSite: number, incidents: number): number {
  return incidents > 0 ? 1 : perSite;
}

/** The strictest of several policies. It applies when several jobs crawl one site. */
export function strictest(policies: readonly SitePolicy[]): SitePolicy {
  return {
    intervalMs: Math.max(...policies.map((policy) => policy.intervalMs)),
    burst: Math.min(...policies.map((policy) => policy.burst)),
    perSite: Math.min(...policies.map((policy) => policy.perSite)),
  };
}
