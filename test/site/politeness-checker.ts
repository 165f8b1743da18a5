/**
 * Checks the access log of a site for requests that exceed its rate or its concurrency. Pure; by design, it shares no
 * code with src/.
 */
export type RateLimit = {
  perSecond: number;
  /** How many requests may arrive at once after a pause. */
  burst: number;
  /** Added to the length of every window, because the network and the event loop of the site shift arrival times. */
  toleranceMs: number;
};

/** A window with more requests than allowed. */
export type RateViolation = { from: number; to: number; requests: number; allowed: number };

/** `to` is undefined while the request is in flight. */
export type Interval = { from: number; to: number | undefined };

export type ConcurrencyViolation = { at: number; inFlight: number };

/** A smaller excess, in requests, is a rounding error. */
const ROUNDING = 1e-6;

/**
 * Finds windows with too many requests. If several of them end with the same request, returns only the fullest one. The
 * rule for every window: for all i < j, `j - i + 1 <= burst + perSecond * (t[j] - t[i] + tolerance)`.
 *
 * Takes linear time: `lead(k) = k - perSecond * t[k]` is how far request k is ahead of the steady rate, and the rule is
 * `lead(j) - lead(i) <= burst - 1 + perSecond * tolerance`. So for each j, only the smallest lead so far matters.
 */
export function rateViolations(times: readonly number[], limit: RateLimit): RateViolation[] {
  const sorted = [...times].sort((a, b) => a - b);
  const start = sorted[0] ?? 0;
  const leadOf = (index: number, at: number) => index - (limit.perSecond * (at - start)) / 1000;
  const maxLead = limit.burst - 1 + (limit.perSecond * limit.toleranceMs) / 1000;

  const violations: RateViolation[] = [];
  let least = { lead: Number.POSITIVE_INFINITY, index: 0, at: start };
  for (const [index, at] of sorted.entries()) {
    const lead = leadOf(index, at);
    if (lead - least.lead > maxLead + ROUNDING) {
      violations.push({
        from: least.at,
        to: at,
        requests: index - least.index + 1,
        allowed: limit.burst + (limit.perSecond * (at - least.at + limit.toleranceMs)) / 1000,
      });
    }
    // On a tie the later one: the shorter window shows the violation more clearly.
    if (lead <= least.lead) least = { lead, index, at };
  }
  return violations;
}

/**
 * Returns every time at which a request started and more than `limit` requests were in flight, including that one. A
 * request that ends at the time at which another starts does not overlap it.
 */
export function concurrencyViolations(intervals: readonly Interval[], limit: number): ConcurrencyViolation[] {
  const starts = intervals.map(({ from }) => from).sort((a, b) => a - b);
  const ends = intervals.map(({ to }) => to ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b);

  const violations: ConcurrencyViolation[] = [];
  let ended = 0;
  for (const [index, at] of starts.entries()) {
    // Requests that start at the same time are checked once, at the last of them.
    if (starts[index + 1] === at) continue;
    while (ended < ends.length && (ends[ended] ?? 0) <= at) ended++;
    const inFlight = index + 1 - ended;
    if (inFlight > limit) violations.push({ at, inFlight });
  }
  return violations;
}
