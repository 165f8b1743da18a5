/** A quota that is used up, in words. */

import { NO_QUOTAS, type Quotas } from "../../domain/api-key.ts";
import { plural } from "../../domain/counted.ts";
import { TrawlError } from "../../errors.ts";
import type { Caller } from "../route.ts";

export type Reached = { quota: keyof Quotas; most: number; now: number; retryAfterMs: number };

/** What became of the request until then. */
type Taken = { id: string; accepted: number; duplicates: number; refusedCount: number; taken: number };

export function reachedError(caller: Caller, reached: Reached | undefined, taken?: Taken): TrawlError {
  const { quota, most, now, retryAfterMs } = reached ?? { ...NOTHING, most: caller.quotas?.pending ?? 0 };
  const rest =
    taken === undefined
      ? "nothing of this was taken: send it again later"
      : `${taken.taken} of these were taken: send the rest to /v1/jobs/${taken.id}/urls later, the last of them with ?last=true`;
  const says = reachedWords(caller, { quota, most, now });
  return new TrawlError("QUOTA_REACHED", {
    op: "api.quota",
    message: `${says}; ${rest}`,
    detail: {
      ...taken,
      says,
      quota,
      most,
      now,
      quotas: caller.quotas ?? NO_QUOTAS,
      retryAfterMs: Math.ceil(retryAfterMs),
    },
  });
}

const NOTHING = { quota: "pending", now: 0, retryAfterMs: 1_000 } as const;

/** Which quota it is, and how it stands. */
export function reachedWords(
  { tenant }: Caller,
  { quota, most, now }: Pick<Reached, "quota" | "most" | "now">,
): string {
  const whose = tenant === undefined ? "this key" : `tenant ${tenant}`;
  switch (quota) {
    case "pending":
      return `${whose} has ${plural(now, "URL")} waiting, and may have ${most}`;
    case "jobs":
      return `${whose} has ${plural(now, "open job")}, and may have ${most}`;
    case "urlsPerSecond":
      return `this key may queue ${plural(most, "URL")} a second, and has`;
  }
}
