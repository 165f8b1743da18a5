/** The rules that apply to a site because of its responses, as sentences for users. */
import { type BackoffCause, describeBackoff } from "./backoff.ts";
import { describeSlowdown, type SlowdownCause } from "./slowdown.ts";

type AdaptiveFacts = {
  policy: { intervalMs: number };
  slowdown: number;
  slowdownCause: SlowdownCause | undefined;
  hasIsolatedErrors: boolean;
  blockedUntil: number;
  /** Number of backoffs in a row. Undefined if it is not known. */
  incidents?: number;
};

/** The rules that delay requests to a site now: a backoff, a slowdown, pages that wait alone. */
export function siteRules(site: AdaptiveFacts & { backoffCause: BackoffCause | undefined }, now: number): string[] {
  const { blockedUntil, backoffCause } = site;
  if (blockedUntil <= now) return adaptiveRules(site, now);
  const paused = `paused until ${new Date(blockedUntil).toISOString()}: ${describeBackoff(backoffCause)}`;
  return [paused, ...adaptiveRules(site, now)];
}

/** The same without the backoff itself. */
export function adaptiveRules(site: AdaptiveFacts, now: number): string[] {
  const { policy, slowdown, slowdownCause, incidents = 0, blockedUntil } = site;
  const slowed = describeSlowdown(policy.intervalMs, slowdown, slowdownCause);
  return [
    ...(slowed === undefined ? [] : [slowed]),
    ...(incidents > 0 && blockedUntil <= now ? [ONE_AT_A_TIME] : []),
    ...(site.hasIsolatedErrors ? [ONLY_PAGES_WAIT] : []),
  ];
}

const ONE_AT_A_TIME = "after the backoff, the site gets one request at a time until a response is good";
const ONLY_PAGES_WAIT = "429 and 503 come from single pages of the site: only these pages wait";
