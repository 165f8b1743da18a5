/**
 * Judges a site's access log: was it ever hit faster, or by more at once, than allowed? Pure, and by design without a
 * line in common with the code it judges.
 */
export type RateLimit = {
  perSecond: number;
  /** How many requests may come at once after a quiet time. */
  burst: number;
  /** How much a window is taken to be longer, for what the network and the observer's event loop smear. */
  toleranceMs: number;
};

/** A window with more requests than allowed. */
export type RateViolation = { from: number; to: number; requests: number; allowed: number };

/** `to` undefined: not over yet. */
export type Interval = { from: number; to: number | undefined };

export type ConcurrencyViolation = { at: number; underWay: number };

/** Less than this share of a request over the limit is rounding. */
const ROUNDING = 1e-6;

/**
 * For each request that ends too full a window, the fullest such window. The rule, over every window:
 * for all i < j, `j - i + 1 <= burst + perSecond * (t[j] - t[i] + tolerance)`.
 *
 * Linear: with `lead(k) = k - perSecond * t[k]`, how far request k is ahead of the steady rate, the rule reads
 * `lead(j) - lead(i) <= burst - 1 + perSecond * tolerance`; so the smallest lead so far decides for each j.
 */
export function rateViolations(times: readonly number[], limit: RateLimit): RateViolation[] {
  const sorted = [...times].sort((a, b) => a - b);
  const start = sorted[0] ?? 0;
  const leadOf = (index: number, at: number) => index - (limit.perSecond * (at - start)) / 1000;
  const mostLead = limit.burst - 1 + (limit.perSecond * limit.toleranceMs) / 1000;

  const violations: RateViolation[] = [];
  let least = { lead: Number.POSITIVE_INFINITY, index: 0, at: start };
  for (const [index, at] of sorted.entries()) {
    const lead = leadOf(index, at);
    if (lead - least.lead > mostLead + ROUNDING) {
      violations.push({
        from: least.at,
        to: at,
        requests: index - least.index + 1,
        allowed: limit.burst + (limit.perSecond * (at - least.at + limit.toleranceMs)) / 1000,
      });
    }
    // On a tie the later one: the shorter window says more.
    if (lead <= least.lead) least = { lead, index, at };
  }
  return violations;
}

/**
 * Every instant at which a request started and more than `limit` were under way, itself counted. A request that ends
 * at the instant another starts does not overlap it.
 */
export function concurrencyViolations(intervals: readonly Interval[], limit: number): ConcurrencyViolation[] {
  const starts = intervals.map(({ from }) => from).sort((a, b) => a - b);
  const ends = intervals.map(({ to }) => to ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b);

  const violations: ConcurrencyViolation[] = [];
  let ended = 0;
  for (const [index, at] of starts.entries()) {
    // Requests that start together are judged once, at the last of them.
    if (starts[index + 1] === at) continue;
    while (ended < ends.length && (ends[ended] ?? 0) <= at) ended++;
    const underWay = index + 1 - ended;
    if (underWay > limit) violations.push({ at, underWay });
  }
  return violations;
}
