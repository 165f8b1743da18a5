/**
 * Enforces the quotas of API keys, for any number of server instances on one store.
 *
 * Open jobs and URLs per second are counted in the store, each in one transaction. These quotas are exact, with any
 * number of instances. Each instance counts waiting URLs in the broker at most once per second, and then adds the
 * URLs that it has queued itself. So an instance may exceed this quota by the URLs that other instances have queued in
 * the last second. Links that workers find count as waiting, but are never refused.
 *
 * After a crash, some tokens of the rate bucket may be used for URLs that were not queued: the bucket refills within
 * seconds. There may also be an owner row of a job that was not created: the next count marks it as ended.
 */

import { NO_QUOTAS } from "../../domain/api-key.ts";
import { hasEnded } from "../../domain/job.ts";
import type { FrontierAdmin, JobView } from "../../frontier/frontier-admin.ts";
import type { Clock } from "../../runtime/clock.ts";
import { CREATED_WITHIN_MS, type JobOwners, type OwnedJob } from "../../store/job-owners.ts";
import type { KeyStore } from "../../store/key-store.ts";
import type { UrlBudget } from "../../submit/submit-urls.ts";
import { tenantOwner } from "../../submit/with-tenant.ts";
import type { Caller } from "../caller.ts";
import { quotaError, type ReachedQuota } from "./quota-error.ts";

/** The quota of one request. After `reserve` has returned 0, `reached` returns the quota that is used up. */
type Budget = UrlBudget & {
  /** Whether one more URL may be queued now. Reserves nothing, and does not write to the store. */
  hasCapacity(): Promise<boolean>;
  reached(): ReachedQuota | undefined;
};

export type QuotaKeeper = {
  /** Records the caller as the owner of a job, before the job is created. Throws QUOTA_REACHED. */
  admitJob(caller: Caller, jobId: string): Promise<void>;
  /** Throws QUOTA_REACHED if no URL may be queued now. */
  check(caller: Caller): Promise<void>;
  /** Undefined for a caller without quotas. */
  budgetOf(caller: Caller): Budget | undefined;
};

type Deps = {
  owners: JobOwners;
  keys: Pick<KeyStore, "takeTokens" | "returnTokens">;
  frontier: Pick<FrontierAdmin, "findJob">;
  clock: Clock;
};

/** How long a count of waiting URLs is used. */
const COUNTED_MS = 1_000;
/** The rate bucket contains tokens for this many seconds, because callers submit lists in one request. */
export const BUCKET_S = 10;
/** The Retry-After for quotas that depend on the speed of the workers. */
const RETRY_AFTER_MS = 5_000;
const ROWS = 200;

/**
 * The waiting URLs of an owner. `counted`: the last count, valid until `until`. `since`: URLs queued after the count.
 * `reserved`: URLs that are reserved and not settled.
 */
type Waiting = { counted: number; since: number; reserved: number; until: number; counting: Promise<void> | undefined };

/** The owner whose jobs count together: the tenant, or the key itself if it has no tenant. */
export function ownerOf({ tenant, keyId }: Caller): string | undefined {
  if (tenant !== undefined) return tenantOwner(tenant);
  return keyId === undefined ? undefined : `k:${keyId}`;
}

export function createQuotaKeeper({ owners, keys, frontier, clock }: Deps): QuotaKeeper {
  const waiting = new Map<string, Waiting>();

  /** Counts the waiting URLs in the owner's open jobs, and closes the rows of jobs that have ended. */
  async function countWaiting(owner: string): Promise<number> {
    let sum = 0;
    for (let afterN = 0; ; ) {
      const rows = await owners.listOpen(owner, ROWS, afterN);
      const jobs = await Promise.all(rows.map(({ jobId }) => frontier.findJob(jobId)));
      sum += jobs.reduce((part, job) => part + waitingIn(job), 0);
      const over = rows.filter((row, nth) => isOver(row, jobs[nth], clock.now()));
      if (over.length > 0)
        await owners.setOpen(
          over.map(({ jobId }) => jobId),
          false,
        );
      afterN = rows.at(-1)?.n ?? afterN;
      if (rows.length < ROWS) return sum;
    }
  }

  async function counted(owner: string): Promise<Waiting> {
    const known = waiting.get(owner) ?? { counted: 0, since: 0, reserved: 0, until: 0, counting: undefined };
    waiting.set(owner, known);
    if (clock.now() < known.until) return known;
    known.counting ??= (async () => {
      known.since = 0; // before the count, so that URLs queued during the count are counted twice rather than missed
      known.counted = await countWaiting(owner);
      known.until = clock.now() + COUNTED_MS;
    })().finally(() => {
      known.counting = undefined;
    });
    await known.counting;
    return known;
  }

  function budgetOf(caller: Caller): Budget | undefined {
    const { pending, urlsPerSecond } = caller.quotas ?? NO_QUOTAS;
    const owner = ownerOf(caller);
    const { keyId } = caller;
    if (owner === undefined || keyId === undefined || (pending === undefined && urlsPerSecond === undefined)) return;
    let reached: ReachedQuota | undefined;

    async function reserveWaiting(want: number, max: number, owner: string): Promise<number> {
      const count = await counted(owner);
      const now = count.counted + count.since + count.reserved;
      const granted = Math.max(0, Math.min(want, max - now));
      count.reserved += granted;
      if (granted === 0) reached = { quota: "pending", max, now, retryAfterMs: RETRY_AFTER_MS };
      return granted;
    }

    async function takeTokens(want: number, perSecond: number, keyId: string): Promise<number> {
      const bucket = bucketOf(perSecond);
      const { granted, nextAt } = await keys.takeTokens(keyId, want, bucket);
      if (granted === 0 && (want > 0 || nextAt > bucket.now)) {
        reached = { quota: "urlsPerSecond", max: perSecond, now: perSecond, retryAfterMs: nextAt - bucket.now };
      }
      return granted;
    }

    return {
      async reserve(want) {
        reached = undefined;
        const reserved = pending === undefined ? want : await reserveWaiting(want, pending, owner);
        if (reserved === 0 || urlsPerSecond === undefined) return reserved;
        const granted = await takeTokens(reserved, urlsPerSecond, keyId);
        const count = waiting.get(owner);
        if (pending !== undefined && count !== undefined) count.reserved -= reserved - granted;
        return granted;
      },
      async settle(reserved, queued) {
        const count = waiting.get(owner);
        if (pending !== undefined && count !== undefined) {
          count.reserved -= reserved;
          count.since += queued;
        }
        const unused = reserved - queued;
        if (urlsPerSecond !== undefined && unused > 0) await keys.returnTokens(keyId, unused, bucketOf(urlsPerSecond));
      },
      async hasCapacity() {
        reached = undefined;
        if (pending !== undefined) {
          const reserved = await reserveWaiting(1, pending, owner);
          if (reserved === 0) return false;
          const count = waiting.get(owner);
          if (count !== undefined) count.reserved -= reserved;
        }
        if (urlsPerSecond !== undefined) await takeTokens(0, urlsPerSecond, keyId);
        return reached === undefined;
      },
      reached: () => reached,
    };
  }

  function bucketOf(perSecond: number) {
    return { perSecond, capacity: Math.max(1, Math.ceil(perSecond * BUCKET_S)), now: clock.now() };
  }

  return {
    budgetOf,
    async check(caller) {
      const budget = budgetOf(caller);
      if (budget === undefined) return;
      if (!(await budget.hasCapacity())) throw quotaError(caller, budget.reached());
    },
    async admitJob(caller, jobId) {
      const owner = ownerOf(caller);
      const { jobs: max, pending } = caller.quotas ?? NO_QUOTAS;
      // A caller without a tenant sees all jobs, so its own list is needed only to count quotas.
      const isCounted = caller.tenant !== undefined || max !== undefined || pending !== undefined;
      if (owner === undefined || !isCounted) return;
      if (await owners.add(owner, jobId, clock.now(), max)) return;
      await countWaiting(owner); // closes the rows of jobs that have ended
      if (await owners.add(owner, jobId, clock.now(), max)) return;
      const now = max ?? 0;
      throw quotaError(caller, { quota: "jobs", max: now, now, retryAfterMs: RETRY_AFTER_MS });
    },
  };
}

function waitingIn(job: JobView | undefined): number {
  if (job === undefined) return 0;
  const { queued, delayed, leased } = job.counts;
  return queued + delayed + leased;
}

function isOver({ addedAt }: OwnedJob, job: JobView | undefined, now: number): boolean {
  return job === undefined ? now - addedAt > CREATED_WITHIN_MS : hasEnded(job.state);
}
