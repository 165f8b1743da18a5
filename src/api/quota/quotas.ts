/**
 * Holds keys to their quotas, for any number of instances on one store.
 *
 * Jobs and URLs a second are counted in the store, in one step each: what may be is not exceeded, however many instances
 * there are. URLs that wait are counted in the broker, once a second and instance, and in between by what went through this
 * instance: each may so let through, at most, what the others have let through in the last second. Links that workers find
 * count as waiting, and are never held up.
 *
 * A crash leaves URLs drawn and not queued, which are back in the bucket within seconds, or a job noted and not made.
 */
import { NO_QUOTAS } from "../../domain/api-key.ts";
import { hasEnded } from "../../domain/job.ts";
import type { FrontierAdmin, JobView } from "../../frontier/frontier-admin.ts";
import type { Clock } from "../../runtime/clock.ts";
import { type JobOwners, MADE_WITHIN_MS, type OwnedJob } from "../../store/job-owners.ts";
import type { KeyBook } from "../../store/key-book.ts";
import { tenantOwner } from "../../submit/with-tenant.ts";
import type { Caller } from "../route.ts";
import { type Reached, reachedError } from "./reached.ts";

/** What one request may queue. */
export type Budget = {
  /** How many of `want` may be queued now; they count until they are settled. 0: `reached` says why. */
  reserve(want: number): Promise<number>;
  /** Of those reserved, so many were new. */
  settle(reserved: number, queued: number): Promise<void>;
  /** Whether one more may be queued now, without reserving it: a look, and no write to the store. */
  hasRoom(): Promise<boolean>;
  reached(): Reached | undefined;
};

export type QuotaKeeper = {
  /** Notes a job as the caller's, before it is made. Throws QUOTA_REACHED. */
  admitJob(caller: Caller, jobId: string): Promise<void>;
  /** Whether any URL may be queued now. Throws QUOTA_REACHED. */
  check(caller: Caller): Promise<void>;
  /** Undefined where nothing is counted. */
  budgetOf(caller: Caller): Budget | undefined;
};

type Deps = {
  owners: JobOwners;
  keys: Pick<KeyBook, "draw" | "putBack">;
  frontier: Pick<FrontierAdmin, "findJob">;
  clock: Clock;
};

/** How long a count of what waits is gone by. */
export const COUNTED_MS = 1_000;
/** A bucket holds what comes in so long: lists come in one piece. */
export const BUCKET_S = 10;
/** When to ask again, where that depends on workers. */
const ASK_AGAIN_MS = 5_000;
const ROWS = 200;

/** What waits of an owner's: as last counted, let through since, and on its way. */
type Waiting = { counted: number; since: number; reserved: number; until: number; counting: Promise<void> | undefined };

/** Whose jobs count together: the tenant's; of a key without one, those it has sent. */
export function ownerOf({ tenant, keyId }: Caller): string | undefined {
  if (tenant !== undefined) return tenantOwner(tenant);
  return keyId === undefined ? undefined : `k:${keyId}`;
}

export function createQuotaKeeper({ owners, keys, frontier, clock }: Deps): QuotaKeeper {
  const waiting = new Map<string, Waiting>();

  /** Looks at the owner's open jobs: what waits in them, and which have ended. */
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
      known.since = 0; // what is let through while we count is counted twice, rather than not at all
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
    let reached: Reached | undefined;

    async function roomFor(want: number, most: number, owner: string): Promise<number> {
      const count = await counted(owner);
      const now = count.counted + count.since + count.reserved;
      const granted = Math.max(0, Math.min(want, most - now));
      count.reserved += granted;
      if (granted === 0) reached = { quota: "pending", most, now, retryAfterMs: ASK_AGAIN_MS };
      return granted;
    }

    async function draw(want: number, perSecond: number, keyId: string): Promise<number> {
      const bucket = bucketOf(perSecond);
      const { granted, nextAt } = await keys.draw(keyId, want, bucket);
      if (granted === 0 && (want > 0 || nextAt > bucket.now)) {
        reached = { quota: "urlsPerSecond", most: perSecond, now: perSecond, retryAfterMs: nextAt - bucket.now };
      }
      return granted;
    }

    return {
      async reserve(want) {
        reached = undefined;
        const room = pending === undefined ? want : await roomFor(want, pending, owner);
        if (room === 0 || urlsPerSecond === undefined) return room;
        const granted = await draw(room, urlsPerSecond, keyId);
        const count = waiting.get(owner);
        if (pending !== undefined && count !== undefined) count.reserved -= room - granted;
        return granted;
      },
      async settle(reserved, queued) {
        const count = waiting.get(owner);
        if (pending !== undefined && count !== undefined) {
          count.reserved -= reserved;
          count.since += queued;
        }
        const unused = reserved - queued;
        if (urlsPerSecond !== undefined && unused > 0) await keys.putBack(keyId, unused, bucketOf(urlsPerSecond));
      },
      async hasRoom() {
        reached = undefined;
        if (pending !== undefined) {
          const room = await roomFor(1, pending, owner);
          if (room === 0) return false;
          const count = waiting.get(owner);
          if (count !== undefined) count.reserved -= room;
        }
        if (urlsPerSecond !== undefined) await draw(0, urlsPerSecond, keyId);
        return reached === undefined;
      },
      reached: () => reached,
    };
  }

  function bucketOf(perSecond: number) {
    return { perSecond, holds: Math.max(1, Math.ceil(perSecond * BUCKET_S)), now: clock.now() };
  }

  return {
    budgetOf,
    async check(caller) {
      const budget = budgetOf(caller);
      if (budget === undefined) return;
      if (!(await budget.hasRoom())) throw reachedError(caller, budget.reached());
    },
    async admitJob(caller, jobId) {
      const owner = ownerOf(caller);
      const { jobs: most, pending } = caller.quotas ?? NO_QUOTAS;
      // Who sees everything needs no list of its own, unless something of it is counted.
      const isCounted = caller.tenant !== undefined || most !== undefined || pending !== undefined;
      if (owner === undefined || !isCounted) return;
      if (await owners.note(owner, jobId, clock.now(), most)) return;
      await countWaiting(owner); // some may have ended since
      if (await owners.note(owner, jobId, clock.now(), most)) return;
      const now = most ?? 0;
      throw reachedError(caller, { quota: "jobs", most: now, now, retryAfterMs: ASK_AGAIN_MS });
    },
  };
}

function waitingIn(job: JobView | undefined): number {
  if (job === undefined) return 0;
  const { queued, delayed, leased } = job.counts;
  return queued + delayed + leased;
}

function isOver({ notedAt }: OwnedJob, job: JobView | undefined, now: number): boolean {
  return job === undefined ? now - notedAt > MADE_WITHIN_MS : hasEnded(job.state);
}
