/**
 * The slowdown of a site: requests are spaced by its interval times the slowdown. The worker that holds the term
 * determines it (worker/pace/site-speed.ts), and the broker stores it for the next term.
 */
import { formatDuration } from "./duration.ts";
import { formatRate } from "./rate.ts";

/**
 * `errors`: `percent` of the last requests failed, most of them with `error`. `latency`: the response time rose from
 * `usualMs` to `ms`.
 */
export type SlowdownCause =
  | { kind: "errors"; percent: number; error: string }
  | { kind: "latency"; ms: number; usualMs: number };

/** A slowdown is forgotten if a site has got no request for this long, although one was allowed. */
const KEPT_MS = 10 * 60_000;

/** The slowdown that applies now. `arrivalAt`: the arrival time of the site. */
export function currentSlowdown(slowdown: number, arrivalAt: number, now: number): number {
  return now - arrivalAt > KEPT_MS ? 1 : slowdown;
}

/** Describes a slowdown for users. Undefined for a site that is not slowed down. */
export function describeSlowdown(
  intervalMs: number,
  slowdown: number,
  cause: SlowdownCause | undefined,
): string | undefined {
  if (slowdown <= 1 || intervalMs === 0) return undefined;
  const percent = Math.max(1, Math.round(100 / slowdown));
  return `${describeCause(cause)}: the rate is lowered to ${percent} %, ${shortRate(intervalMs * slowdown)} instead of ${formatRate(intervalMs)}`;
}

function describeCause(cause: SlowdownCause | undefined): string {
  if (cause === undefined) return "the site answered with errors or slowly";
  if (cause.kind === "latency") {
    return `the response time of the site rose from ${formatDuration(cause.usualMs)} to ${formatDuration(cause.ms)}`;
  }
  return `the site answered ${cause.percent} % of the last requests with errors (${cause.error})`;
}

/** A rate with two significant digits. More would not help, because the value changes all the time. */
function shortRate(intervalMs: number): string {
  const perSecond = 1000 / intervalMs;
  return perSecond < 0.1 ? formatRate(Math.round(intervalMs / 1000) * 1000) : `${Number(perSecond.toPrecision(2))}/s`;
}
