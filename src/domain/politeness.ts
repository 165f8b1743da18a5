/**
 * Rate limits of a site. They use GCRA: the state of a site is one instant, the theoretical arrival time. The functions
 * are pure; the broker stores the instant.
 */
export type SitePolicy = {
  /** The minimum time between two requests, ms; 0 means unlimited. */
  intervalMs: number;
  /** How many requests may be sent at once after an idle time. */
  burst: number;
  /** How many requests may run at once. */
  perSite: number;
};

/** The policy of offline sites (offline-site.ts), which get no requests. */
export const UNLIMITED: SitePolicy = { intervalMs: 0, burst: 1, perSite: 1_000_000 };

/** Permission for one request. It must be sent between `sendAt` and `sendBy`; later it needs a new slot. */
export type Slot = {
  sendAt: number;
  sendBy: number;
  /** The arrival time of the site after this slot. If the slot is returned unused, this time identifies it. */
  arrivalAt: number;
};

/**
 * The guard time after each interval. A request may be sent late by up to this time, so slots are spaced by `interval +
 * guard`. Even if one request is as late as allowed and the next is on time, a full interval lies between them.
 * At high rates the guard is more than the usual 5 %, since a busy process would miss a window of half a millisecond.
 */
export function guardMs(intervalMs: number): number {
  if (intervalMs === 0) return 0;
  return Math.min(25, Math.max(0.5, Math.min(2, intervalMs * 0.2), intervalMs * 0.05));
}

/** When the next request may be sent. */
export function readyAt(arrivalAt: number, policy: SitePolicy): number {
  return arrivalAt - (policy.burst - 1) * spacingMs(policy);
}

/** How many requests may be sent at `now`, up to `max`. */
export function capacityAt(now: number, arrivalAt: number, policy: SitePolicy, max: number): number {
  if (policy.intervalMs === 0) return max;
  const spacing = spacingMs(policy);
  const from = Math.max(arrivalAt, now);
  // The k-th request (from 0) may be sent while from + k*spacing - (burst-1)*spacing <= now.
  const slots = Math.floor((now - from) / spacing + policy.burst - 1 + 1e-9) + 1;
  return Math.max(0, Math.min(max, slots));
}

/** Reserves one slot at `now`, or at the first free instant after it. */
export function takeSlot(now: number, arrivalAt: number, policy: SitePolicy): Slot {
  if (policy.intervalMs === 0) return { sendAt: now, sendBy: Number.MAX_SAFE_INTEGER, arrivalAt };
  const sendAt = Math.max(now, readyAt(arrivalAt, policy));
  return {
    sendAt,
    sendBy: sendAt + guardMs(policy.intervalMs),
    arrivalAt: Math.max(arrivalAt, sendAt) + spacingMs(policy),
  };
}

/** The arrival time without `slot`, which must be the last one taken. */
export function returnSlot(slot: Slot, policy: SitePolicy): number {
  return slot.arrivalAt - spacingMs(policy);
}

/** The strictest of several policies. It applies when several jobs crawl one site. */
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
