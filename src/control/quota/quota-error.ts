/** The error for a quota that is used up. */
import { NO_QUOTAS, type Quotas } from "../../domain/api-key.ts";
import { plural } from "../../domain/format-number.ts";
import { TrawlError } from "../../errors.ts";
import type { Caller } from "../caller.ts";

export type ReachedQuota = { quota: keyof Quotas; max: number; now: number; retryAfterMs: number };

/** The progress of the request before it reached the quota. */
type Progress = { id: string; accepted: number; duplicates: number; refusedCount: number; taken: number };

export function quotaError(caller: Caller, reached: ReachedQuota | undefined, progress?: Progress): TrawlError {
  const { quota, max, now, retryAfterMs } = reached ?? { ...UNKNOWN, max: caller.quotas?.pending ?? 0 };
  const rest =
    progress === undefined
      ? "no URL of this request was queued: send the request again later"
      : `${progress.taken} of these URLs were processed: send the rest to /v1/jobs/${progress.id}/urls later, the last of them with ?last=true`;
  const reason = quotaText(caller, { quota, max, now });
  return new TrawlError("QUOTA_REACHED", {
    op: "api.quota",
    message: `${reason}; ${rest}`,
    detail: {
      ...progress,
      reason,
      quota,
      max,
      now,
      quotas: caller.quotas ?? NO_QUOTAS,
      retryAfterMs: Math.ceil(retryAfterMs),
    },
  });
}

const UNKNOWN = { quota: "pending", now: 0, retryAfterMs: 1_000 } as const;

/** Which quota is used up, with its numbers. */
export function quotaText(
  { tenant }: Caller,
  { quota, max, now }: Pick<ReachedQuota, "quota" | "max" | "now">,
): string {
  const whose = tenant === undefined ? "this key" : `tenant ${tenant}`;
  switch (quota) {
    case "pending":
      return `${whose} has ${plural(now, "pending URL")}; its limit is ${max}`;
    case "jobs":
      return `${whose} has ${plural(now, "open job")}; its limit is ${max}`;
    case "urlsPerSecond":
      return `this key has used up its limit of ${plural(max, "URL")} per second`;
  }
}
