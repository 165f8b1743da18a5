/** Sites and queues as the API returns them and as `--json` prints them. */
import { futureInstant } from "../../domain/future-instant.ts";
import { formatRate } from "../../domain/rate.ts";
import { siteRules } from "../../domain/site-rules.ts";
import type { QueueView, SiteView, WorkerView } from "../../frontier/frontier-admin.ts";
import { capacityOf } from "../../frontier/worker-facts.ts";

export type SiteOut = {
  site: string;
  rate: string;
  burst: number;
  perSite: number;
  inFlight: number;
  waiting: number;
  readyAt: string | null;
  blockedUntil: string | null;
  crawlDelayMs: number;
  /** The adaptive rate as a share of the rate, from 0 to 1. */
  rateShare: number;
  /** The rules that apply because of the responses of the site, as sentences. */
  rules: string[];
};

export type QueueOut = {
  queue: string;
  waiting: number;
  workers: number;
  /** How many more tasks the workers of the queue can run now. */
  free: number;
};

export function siteOut(view: SiteView, now: number): SiteOut {
  const { site, policy, inFlight, waiting, readyAt, blockedUntil, crawlDelayMs } = view;
  const { intervalMs, burst, perSite } = policy;
  return {
    ...{ site, rate: formatRate(intervalMs), burst, perSite, inFlight, waiting },
    readyAt: futureIso(readyAt, now),
    blockedUntil: futureIso(blockedUntil, now),
    crawlDelayMs,
    rateShare: Math.round(100 / view.slowdown) / 100,
    rules: siteRules(view, now),
  };
}

/** All queues that have waiting tasks or that a worker serves, sorted by name. */
export function queuesOut(queues: readonly QueueView[], workers: readonly WorkerView[]): QueueOut[] {
  const waiting = new Map(queues.map((view) => [view.queue, view.waiting]));
  const names = new Set([...waiting.keys(), ...workers.flatMap((worker) => worker.queues)]);
  return [...names].sort().map((queue) => {
    const { serving, free } = capacityOf(queue, workers);
    return { queue, waiting: waiting.get(queue) ?? 0, workers: serving, free };
  });
}

function futureIso(at: number, now: number): string | null {
  const instant = futureInstant(at, now);
  return instant === undefined ? null : new Date(instant).toISOString();
}
