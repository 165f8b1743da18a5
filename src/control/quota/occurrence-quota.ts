/**
 * Applies a tenant's quotas to the runs of its schedules. The key that created a schedule may expire before the
 * schedule ends. So each quota is the largest limit among the tenant's valid keys with the scope submit. If one of
 * these keys has no limit, the tenant has no limit. The job of an occurrence is admitted completely or not at all; an
 * unused reservation is returned.
 */
import { impliedScopes, NO_QUOTAS, type Quotas } from "../../domain/api-key.ts";
import { isTrawlError } from "../../errors.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { OccurrenceObstacle } from "../../schedule/fire-occurrence.ts";
import type { ApiKey, KeyStore } from "../../store/key-store.ts";
import type { Caller } from "../caller.ts";
import { quotaText } from "./quota-error.ts";
import { BUCKET_S, type QuotaKeeper } from "./quotas.ts";

type Deps = {
  keys: Pick<KeyStore, "list">;
  quotas: QuotaKeeper;
  clock: Clock;
  /** Keys in the settings. They have no quotas. */
  fixed: readonly { tenant: string | undefined }[];
};

/** Why a job with this many URLs cannot be submitted now; undefined if it is admitted. */
type FindOccurrenceObstacle = (tenant: string, jobId: string, urls: number) => Promise<OccurrenceObstacle | undefined>;

const ROWS = 200;

export function createOccurrenceQuota({ keys, quotas, clock, fixed }: Deps): FindOccurrenceObstacle {
  /** A caller with the quotas of the tenant; undefined if the tenant has no valid key that may submit. */
  async function findCaller(tenant: string): Promise<Caller | undefined> {
    const own: ApiKey[] = [];
    for (let after: string | undefined = ""; after !== undefined; ) {
      const page: readonly ApiKey[] = await keys.list(ROWS, after);
      own.push(...page.filter((key) => key.tenant === tenant && maySubmit(key, clock.now())));
      after = page.length < ROWS ? undefined : page.at(-1)?.id;
    }
    const hasFixedKey = fixed.some((key) => key.tenant === tenant);
    if (own.length === 0 && !hasFixedKey) return undefined;
    const fastest = [...own].sort((one, other) => rateOf(other) - rateOf(one))[0];
    return { tenant, keyId: fastest?.id, scopes: ["submit"], quotas: hasFixedKey ? NO_QUOTAS : largest(own) };
  }

  /** Reserves `want` URLs. `settle(false)` returns them to the quota. */
  async function reserve(caller: Caller, quota: "pending" | "urlsPerSecond", want: number) {
    const one = { ...caller, quotas: { ...NO_QUOTAS, [quota]: caller.quotas?.[quota] } };
    const budget = quotas.budgetOf(one);
    if (budget === undefined) return { settle: async () => {} };
    const granted = await budget.reserve(want);
    if (granted === want) return { settle: (isUsed: boolean) => budget.settle(want, isUsed ? want : 0) };
    await budget.settle(granted, 0);
    return { because: quotaText(one, budget.reached() ?? { quota, max: one.quotas[quota] ?? 0, now: 0 }) };
  }

  return async (tenant, jobId, urls) => {
    const caller = await findCaller(tenant);
    if (caller === undefined) {
      return { because: `a key: tenant ${tenant} has no valid key with the scope submit`, isPermanent: false };
    }
    const { pending, urlsPerSecond } = caller.quotas ?? NO_QUOTAS;
    if (pending !== undefined && urls > pending) {
      return {
        because: `the job has ${urls} URLs, more than the quota of tenant ${tenant}: ${pending} pending URLs`,
        isPermanent: true,
      };
    }
    const waiting = await reserve(caller, "pending", urls);
    if ("because" in waiting) return waitsForQuota(waiting.because);
    // A list with more URLs than the bucket can contain needs a full bucket, and empties it.
    const max = urlsPerSecond === undefined ? urls : Math.max(1, Math.ceil(urlsPerSecond * BUCKET_S));
    let drawn: Awaited<ReturnType<typeof reserve>> | undefined;
    let isAdmitted = false;
    try {
      drawn = await reserve(caller, "urlsPerSecond", Math.min(urls, max));
      if ("because" in drawn) return waitsForQuota(drawn.because);
      await quotas.admitJob(caller, jobId);
      isAdmitted = true;
      return undefined;
    } catch (error) {
      if (!isTrawlError(error, "QUOTA_REACHED")) throw error;
      return waitsForQuota(String(error.detail.reason));
    } finally {
      await waiting.settle(isAdmitted);
      if (drawn !== undefined && "settle" in drawn) await drawn.settle(isAdmitted);
    }
  };
}

function waitsForQuota(quotaMessage: string): OccurrenceObstacle {
  return { because: `a quota: ${quotaMessage}`, isPermanent: false };
}

function maySubmit({ revokedAt, expiresAt = Infinity, scopes }: ApiKey, now: number): boolean {
  return revokedAt === undefined && expiresAt > now && impliedScopes(scopes).includes("submit");
}

function rateOf({ quotas: { urlsPerSecond = Infinity } }: ApiKey): number {
  return urlsPerSecond;
}

function largest(keys: readonly ApiKey[]): Quotas {
  const max = (name: keyof Quotas) => {
    const all = keys.map(({ quotas }) => quotas[name] ?? Infinity);
    const found = Math.max(...all);
    return found === Infinity ? undefined : found;
  };
  return { pending: max("pending"), urlsPerSecond: max("urlsPerSecond"), jobs: max("jobs") };
}
