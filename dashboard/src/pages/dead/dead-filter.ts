/** The filter for dead letters: read from the address, and described as text. */
import type { DeadFilter } from "../../../../src/client/client.ts";
import { DEAD_REASONS, type DeadReason } from "../../ui/dead-reasons.ts";
import { duration, plural } from "../../ui/format.ts";

/** Ignores invalid values in the address. */
export function filterOf(query: Readonly<Record<string, string>>): DeadFilter {
  const { job = "", reason = "", site = "", status = "" } = query;
  return {
    ...(job === "" ? {} : { job }),
    ...(Object.hasOwn(DEAD_REASONS, reason) ? { reason: reason as DeadReason } : {}),
    ...(site === "" ? {} : { site }),
    ...(/^[1-9]\d\d$/.test(status) ? { status: Number(status) } : {}),
  };
}

/** `1,240 dead letters of shop.example with status 503 (http_status)` */
export function letterText(count: number, { job, reason, site, status }: DeadFilter): string {
  const parts = [
    site === undefined ? "" : ` of ${site}`,
    status === undefined ? "" : ` with status ${status}`,
    reason === undefined ? "" : ` (${reason})`,
    job === undefined ? "" : ` in job ${job}`,
  ];
  return `${plural(count, "dead letter")}${parts.join("")}`;
}

/** The time until the last replayed dead letter is due. */
export function spanMs(count: number, perSecond: number): number {
  return Math.floor(Math.max(0, count - 1) / perSecond) * 1_000;
}

export function replayText(what: string, count: number, perSecond: number): string {
  const ms = spanMs(count, perSecond);
  if (ms === 0) return `Replays ${what} immediately.`;
  return `Replays ${what} at ${perSecond} per second. The last one is due in about ${duration(ms)}.`;
}
