/** Which dead letters are meant: as the address has it, as the API takes it, and in words. */
import type { DeadFilter } from "../../../../src/client/client.ts";
import { DEAD_REASONS, type DeadReason } from "../../ui/dead-reasons.ts";
import { duration, plural } from "../../ui/format.ts";

/** What the address does not say well is left out of it. */
export function filterOf(query: Readonly<Record<string, string>>): DeadFilter {
  const { job = "", reason = "", site = "", status = "" } = query;
  return {
    ...(job === "" ? {} : { job }),
    ...(Object.hasOwn(DEAD_REASONS, reason) ? { reason: reason as DeadReason } : {}),
    ...(site === "" ? {} : { site }),
    ...(/^[1-9]\d\d$/.test(status) ? { status: Number(status) } : {}),
  };
}

/** `1,240 letters of shop.example with status 503 (http_status)`; `all` where nothing narrows them. */
export function letterWords(count: number, { job, reason, site, status }: DeadFilter): string {
  const parts = [
    site === undefined ? "" : ` of ${site}`,
    status === undefined ? "" : ` with status ${status}`,
    reason === undefined ? "" : ` (${reason})`,
    job === undefined ? "" : ` in job ${job}`,
  ];
  return `${plural(count, "letter")}${parts.join("")}`;
}

/** How long it takes until the last of them is due. */
export function spanMs(count: number, perSecond: number): number {
  return Math.floor(Math.max(0, count - 1) / perSecond) * 1_000;
}

export function replayWords(what: string, count: number, perSecond: number): string {
  const ms = spanMs(count, perSecond);
  const pace = `${perSecond} a second`;
  return `Replays ${what}, ${pace}: ${ms === 0 ? "all are due at once" : `the last is due in about ${duration(ms)}`}.`;
}
