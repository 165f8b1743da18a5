/**
 * Holds the slots of a tenant's schedules to its quotas. A schedule outlives the key it was made with, so it has what the
 * tenant's keys have: of each quota the largest among those that are good and may submit, and none where one of them has none.
 * A slot is taken whole or not at all; what was drawn for one that could not be taken is put back.
 */
import { impliedScopes, NO_QUOTAS, type Quotas } from "../../domain/api-key.ts";
import { isTrawlError } from "../../errors.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { SlotObstacle } from "../../schedule/fire-slot.ts";
import type { ApiKey, KeyBook } from "../../store/key-book.ts";
import type { Caller } from "../route.ts";
import { BUCKET_S, type QuotaKeeper } from "./quotas.ts";
import { reachedWords } from "./reached.ts";

type Deps = {
  keys: Pick<KeyBook, "list">;
  quotas: QuotaKeeper;
  clock: Clock;
  /** Keys of the settings: they have no quotas. */
  fixed: readonly { tenant: string | undefined }[];
};

export type FindSlotObstacle = (tenant: string, jobId: string, urls: number) => Promise<SlotObstacle | undefined>;

const ROWS = 200;

export function createSlotQuota({ keys, quotas, clock, fixed }: Deps): FindSlotObstacle {
  /** Undefined where nobody could submit for the tenant now. */
  async function findCaller(tenant: string): Promise<Caller | undefined> {
    const own: ApiKey[] = [];
    for (let after: string | undefined = ""; after !== undefined; ) {
      const page: readonly ApiKey[] = await keys.list(ROWS, after);
      own.push(...page.filter((key) => key.tenant === tenant && isGood(key, clock.now())));
      after = page.length < ROWS ? undefined : page.at(-1)?.id;
    }
    const isFree = fixed.some((key) => key.tenant === tenant);
    if (own.length === 0 && !isFree) return undefined;
    const fastest = [...own].sort((one, other) => rateOf(other) - rateOf(one))[0];
    return { tenant, keyId: fastest?.id, scopes: ["submit"], quotas: isFree ? NO_QUOTAS : largest(own) };
  }

  /** Reserves; what `settle` is told to be queued then counts, and the rest is put back. */
  async function take(caller: Caller, quota: "pending" | "urlsPerSecond", want: number) {
    const one = { ...caller, quotas: { ...NO_QUOTAS, [quota]: caller.quotas?.[quota] } };
    const budget = quotas.budgetOf(one);
    if (budget === undefined) return { settle: async () => {} };
    const granted = await budget.reserve(want);
    if (granted === want) return { settle: (isTaken: boolean) => budget.settle(want, isTaken ? want : 0) };
    await budget.settle(granted, 0);
    return { because: reachedWords(one, budget.reached() ?? { quota, most: one.quotas[quota] ?? 0, now: 0 }) };
  }

  return async (tenant, jobId, urls) => {
    const caller = await findCaller(tenant);
    if (caller === undefined) {
      return { because: `a key: tenant ${tenant} has none that is good and may submit`, isForGood: false };
    }
    const { pending, urlsPerSecond } = caller.quotas ?? NO_QUOTAS;
    if (pending !== undefined && urls > pending) {
      return {
        because: `a quota: its ${urls} URLs are more than tenant ${tenant} may have waiting, ${pending}`,
        isForGood: true,
      };
    }
    const waiting = await take(caller, "pending", urls);
    if ("because" in waiting) return heldUp(waiting.because);
    // A list that is longer than the bucket has to find it full, and takes it all.
    const most = urlsPerSecond === undefined ? urls : Math.max(1, Math.ceil(urlsPerSecond * BUCKET_S));
    let drawn: Awaited<ReturnType<typeof take>> | undefined;
    let isTaken = false;
    try {
      drawn = await take(caller, "urlsPerSecond", Math.min(urls, most));
      if ("because" in drawn) return heldUp(drawn.because);
      await quotas.admitJob(caller, jobId);
      isTaken = true;
      return undefined;
    } catch (error) {
      if (!isTrawlError(error, "QUOTA_REACHED")) throw error;
      return heldUp(String(error.detail.says));
    } finally {
      await waiting.settle(isTaken);
      if (drawn !== undefined && "settle" in drawn) await drawn.settle(isTaken);
    }
  };
}

function heldUp(says: string): SlotObstacle {
  return { because: `a quota: ${says}`, isForGood: false };
}

function isGood({ revokedAt, expiresAt = Infinity, scopes }: ApiKey, now: number): boolean {
  return revokedAt === undefined && expiresAt > now && impliedScopes(scopes).includes("submit");
}

function rateOf({ quotas: { urlsPerSecond = Infinity } }: ApiKey): number {
  return urlsPerSecond;
}

function largest(keys: readonly ApiKey[]): Quotas {
  const most = (name: keyof Quotas) => {
    const all = keys.map(({ quotas }) => quotas[name] ?? Infinity);
    const found = Math.max(...all);
    return found === Infinity ? undefined : found;
  };
  return { pending: most("pending"), urlsPerSecond: most("urlsPerSecond"), jobs: most("jobs") };
}
