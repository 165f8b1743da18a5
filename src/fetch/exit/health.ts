/**
 * The health of one exit at one site, or of one exit at all sites. Pure.
 *
 * An exit is ejected after several failures in a row. When the ejection is over, one request tries it again: a success
 * makes it healthy, a failure ejects it for twice as long.
 */

import { type Exit, priceOf } from "../../domain/exit.ts";

/** `down`: the exit itself does not work. `failed`: it did not reach the site, or the site did not answer. */
export type ExitResult = { kind: "ok" | "failed" | "blocked" | "down"; tookMs: number; bytes: number; cost: number };

export type Health = {
  /** Totals since the first request. */
  requests: number;
  ok: number;
  blocked: number;
  /** The sum of the response times of the successful requests. */
  tookMs: number;
  bytes: number;
  cost: number;
  /** The score uses these counts. Both are halved when `recent` exceeds RECENT_MAX, so that recent results count more. */
  recent: number;
  recentOk: number;
  /** Failures in a row. */
  streak: number;
  /** How often it was ejected in a row. 0: it is healthy. */
  ejections: number;
  /** When the ejection ends. An instant of the process that wrote it: the clocks of a fleet may differ by seconds. */
  ejectedUntil: number;
  /** Why it was ejected. */
  because: "failed" | "blocked" | "down";
  /** When `streak` and the three fields above were last changed. */
  changedAt: number;
};

export const NO_HEALTH: Health = {
  ...{ requests: 0, ok: 0, blocked: 0, tookMs: 0, bytes: 0, cost: 0, recent: 0, recentOk: 0 },
  ...{ streak: 0, ejections: 0, ejectedUntil: 0, because: "failed", changedAt: 0 },
};

/** The number of failures in a row that eject an exit, and the length of the first ejection; it doubles up to `maxMs`. */
const EJECTION = {
  failed: { after: 3, firstMs: 10_000, maxMs: 600_000 },
  blocked: { after: 2, firstMs: 30_000, maxMs: 1_800_000 },
  down: { after: 2, firstMs: 5_000, maxMs: 300_000 },
} as const;

const RECENT_MAX = 50;

/** The health after one more result. */
export function afterResult(before: Health, result: ExitResult, now: number): Health {
  const isOk = result.kind === "ok";
  const counted: Health = {
    ...before,
    requests: before.requests + 1,
    ok: before.ok + (isOk ? 1 : 0),
    blocked: before.blocked + (result.kind === "blocked" ? 1 : 0),
    tookMs: before.tookMs + (isOk ? result.tookMs : 0),
    bytes: before.bytes + result.bytes,
    cost: before.cost + result.cost,
    recent: before.recent + 1,
    recentOk: before.recentOk + (isOk ? 1 : 0),
  };
  return { ...faded(counted), ...ejectionAfter(before, result.kind, now), changedAt: now };
}

/**
 * Adds the results of one process to the health in the broker. `change` contains the counts of the results that are not
 * in `shared` yet. The ejection is taken from the one that changed last.
 */
export function mergedHealth(shared: Health, change: Health): Health {
  const state = change.changedAt >= shared.changedAt ? change : shared;
  const { streak, ejections, ejectedUntil, because, changedAt } = state;
  return {
    ...faded({
      ...shared,
      requests: shared.requests + change.requests,
      ok: shared.ok + change.ok,
      blocked: shared.blocked + change.blocked,
      tookMs: shared.tookMs + change.tookMs,
      bytes: shared.bytes + change.bytes,
      cost: shared.cost + change.cost,
      recent: shared.recent + change.recent,
      recentOk: shared.recentOk + change.recentOk,
    }),
    ...{ streak, ejections, ejectedUntil, because, changedAt },
  };
}

export type Standing = "healthy" | "ejected" | "probation";

export function standingOf({ ejections, ejectedUntil }: Health, now: number): Standing {
  if (ejections === 0) return "healthy";
  return now < ejectedUntil ? "ejected" : "probation";
}

/**
 * Success per cost. An average response time of one second halves the score. The cost is the price of a request with
 * the average number of bytes. An exit without results counts as a good one, and its average is 0 bytes.
 */
export function scoreOf({ requests, recent, recentOk, ok, tookMs, bytes }: Health, prices: Prices): number {
  const success = (recentOk + 2) / (recent + 2);
  const averageMs = ok === 0 ? 0 : tookMs / ok;
  const cost = priceOf(prices, requests === 0 ? 0 : bytes / requests);
  return (success * success * 1000) / (1000 + averageMs) / Math.max(cost, MIN_COST);
}

type Prices = Pick<Exit, "cost" | "costPerGb">;

/** Free exits are not infinitely better than cheap ones. */
const MIN_COST = 0.01;

function ejectionAfter(
  { streak, ejections, ejectedUntil, because }: Health,
  kind: ExitResult["kind"],
  now: number,
): Pick<Health, "streak" | "ejections" | "ejectedUntil" | "because"> {
  if (kind === "ok") return { streak: 0, ejections: 0, ejectedUntil: 0, because: "failed" };
  const { after, firstMs, maxMs } = EJECTION[kind];
  const failures = streak + 1;
  // A result that arrives during an ejection belongs to a request that was sent before it.
  if (ejections > 0 && now < ejectedUntil) return { streak: failures, ejections, ejectedUntil, because };
  if (ejections === 0 && failures < after) return { streak: failures, ejections, ejectedUntil, because };
  const lastsMs = Math.min(firstMs * 2 ** ejections, maxMs);
  return { streak: failures, ejections: ejections + 1, ejectedUntil: now + lastsMs, because: kind };
}

function faded(health: Health): Health {
  if (health.recent <= RECENT_MAX) return health;
  return { ...health, recent: health.recent / 2, recentOk: health.recentOk / 2 };
}
