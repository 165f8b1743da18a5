/**
 * How fast one site may be hit. Rates are kept by GCRA: one instant per site, the theoretical arrival time, says it all.
 * Pure: the broker holds the instant, these functions move it.
 */
export type SitePolicy = {
  /** Least time between two requests, ms; 0 is unlimited. */
  intervalMs: number;
  /** How many requests may go out at once after a quiet time. */
  burst: number;
  /** How many requests may be under way at once. */
  perSite: number;
};

/** Where nothing is asked of anybody: at an offline site (offline-site.ts). */
export const UNLIMITED: SitePolicy = { intervalMs: 0, burst: 1, perSite: 1_000_000 };

/** Permission for one request: it must leave between `sendAt` and `sendBy`, or be asked for again. */
export type Slot = {
  sendAt: number;
  sendBy: number;
  /** The site's arrival time after this slot; names the slot when it is given back unused. */
  arrivalAt: number;
};

/**
 * Time left free after each interval. A granted request may leave this much late, so slots are spaced by
 * `interval + guard`: however late one leaves and however prompt the next, the gap at the socket is a full interval.
 * At high rates it is more than the usual 5 %: a process busy with other pages misses what is half a millisecond wide.
 */
export function guardMs(intervalMs: number): number {
  if (intervalMs === 0) return 0;
  return Math.min(25, Math.max(0.5, Math.min(2, intervalMs * 0.2), intervalMs * 0.05));
}

/** From when on one more request may be made. */
export function readyAt(arrivalAt: number, policy: SitePolicy): number {
  return arrivalAt - (policy.burst - 1) * spacingMs(policy);
}

/** How many requests may be made at `now`, `most` at the most. */
export function capacityAt(now: number, arrivalAt: number, policy: SitePolicy, most: number): number {
  if (policy.intervalMs === 0) return most;
  const spacing = spacingMs(policy);
  const from = Math.max(arrivalAt, now);
  // The k-th request (from 0) may go while from + k*spacing - (burst-1)*spacing <= now.
  const slots = Math.floor((now - from) / spacing + policy.burst - 1 + 1e-9) + 1;
  return Math.max(0, Math.min(most, slots));
}

/** Takes one slot at `now` or at the first instant after it that is free. */
export function takeSlot(now: number, arrivalAt: number, policy: SitePolicy): Slot {
  if (policy.intervalMs === 0) return { sendAt: now, sendBy: Number.MAX_SAFE_INTEGER, arrivalAt };
  const sendAt = Math.max(now, readyAt(arrivalAt, policy));
  return {
    sendAt,
    sendBy: sendAt + guardMs(policy.intervalMs),
    arrivalAt: Math.max(arrivalAt, sendAt) + spacingMs(policy),
  };
}

/** The arrival time as if `slot`, the last one taken, had not been. */
export function giveBack(slot: Slot, policy: SitePolicy): number {
  return slot.arrivalAt - spacingMs(policy);
}

/** The strictest of several policies: what a site gets when several jobs crawl it. */
export function strictest(policies: readonly SitePolicy[]): SitePolicy {
  return {
    intervalMs: Math.max(...policies.map((policy) => policy.intervalMs)),
    burst: Math.min(...policies.map((policy) => policy.burst)),
    perSite: Math.min(...policies.map((policy) => policy.perSite)),
  };
}

function spacingMs({ intervalMs }: SitePolicy): number {
  return intervalMs + guardMs(intervalMs);
}
