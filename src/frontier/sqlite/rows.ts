/** Rows of the broker file, as the statements in sql/ return them. */
import type { BackoffCause } from "../../domain/backoff.ts";
import type { JobState, Ledger } from "../../domain/job.ts";
import { isOffline } from "../../domain/offline-site.ts";
import { type SitePolicy, UNLIMITED } from "../../domain/politeness.ts";
import { currentSlowdown, type SlowdownCause } from "../../domain/slowdown.ts";
import { areIsolated, type Throttling } from "../../domain/throttling.ts";
import type { Tally } from "../frontier.ts";
import type { AdaptiveView } from "../frontier-admin.ts";

/** In the time columns, this means "not until something changes". */
export const NEVER = 9e15;

type PolicyRow = { interval_ms: number; burst: number; per_site: number };

export type JobRow = Ledger &
  Tally &
  PolicyRow & {
    n: number;
    id: string;
    name: string;
    state: JobState;
    sealed: number;
    stopped: number;
    queue: string;
    base_priority: number;
    priority: number;
    site_rules: string;
    robots: number;
    retries_max: number;
    backoff_ms: number;
    page_limit: number | null;
    admitted: number;
    deadline_at: number | null;
    scope: number;
    expire_after_ms: number | null;
    spec: string;
    created_at: number;
    finished_at: number | null;
    synced_lane: number | null;
  };

export type SiteRow = PolicyRow & {
  n: number;
  site: string;
  arrival_at: number;
  in_flight: number;
  blocked_until: number;
  backoff_cause: BackoffCause | null;
  incidents: number;
  wants_robots: number;
  operator_interval_ms: number | null;
  operator_burst: number | null;
  operator_per_site: number | null;
  crawl_delay_ms: number;
  robots_fresh_until: number;
  robots_asker: number | null;
  /** The number of its last term. */
  term: number;
  /** The worker that holds the term; null if the term was returned. */
  term_worker: string | null;
  term_ends_at: number;
  slowdown: number;
  /** JSON of a SlowdownCause. */
  slowdown_cause: string | null;
  isolated: number;
  /** 1: the last response was good, or there was none. */
  is_good: number;
};

export type LaneRow = PolicyRow & {
  n: number;
  job: number;
  site: number;
  queue: string;
  priority: number;
  rank: number;
  robots: number;
  queued: number;
  delayed: number;
  leased: number;
  wake_at: number;
  served: number;
};

export type TaskRow = {
  id: number;
  job: number;
  lane: number;
  site: number;
  state: "queued" | "delayed" | "leased";
  url: string;
  kind: string;
  depth: number;
  handler: string | null;
  carry: string | null;
  request: string | null;
  redirects: number;
  failures: number;
  crashes: number;
  /** 1: granted ahead of its turn, so the lease is not counted in `crashes`. */
  ahead: number;
  token: number;
  not_before: number | null;
  worker: string | null;
  lease_until: number | null;
  history: string | null;
};

export type DeadRow = {
  id: number;
  job: number;
  site: string;
  queue: string;
  priority: number;
  url: string;
  kind: string;
  depth: number;
  handler: string | null;
  carry: string | null;
  request: string | null;
  redirects: number;
  token: number;
  reason: string;
  status: number | null;
  died_at: number;
  history: string;
};

/** The policy that a row contains. */
export function policyOf(row: PolicyRow): SitePolicy {
  return { intervalMs: row.interval_ms, burst: row.burst, perSite: row.per_site };
}

/** The policy that `job` wants at `site`. */
export function policyFor(job: JobRow, site: string): SitePolicy {
  if (isOffline(site)) return UNLIMITED;
  if (job.site_rules === "{}") return policyOf(job);
  const rules = JSON.parse(job.site_rules) as Record<string, SitePolicy>;
  return (Object.hasOwn(rules, site) ? rules[site] : undefined) ?? policyOf(job);
}

export function throttlingOf({ isolated, is_good }: SiteRow): Throttling {
  return { isolated, isGood: is_good === 1 };
}

/** The slowdown that applies now. */
export function slowdownOf({ slowdown, arrival_at }: SiteRow, now: number): number {
  return currentSlowdown(slowdown, arrival_at, now);
}

/** The fields of a site's view that belong to the adaptive rate. */
export function adaptiveView(site: SiteRow, now: number): AdaptiveView {
  const slowdown = slowdownOf(site, now);
  const cause = slowdown === 1 ? null : site.slowdown_cause;
  return {
    slowdown,
    slowdownCause: cause === null ? undefined : (JSON.parse(cause) as SlowdownCause),
    hasIsolatedErrors: areIsolated(throttlingOf(site)),
  };
}

export function setPolicy(row: PolicyRow, policy: SitePolicy): void {
  row.interval_ms = policy.intervalMs;
  row.burst = policy.burst;
  row.per_site = policy.perSite;
}
