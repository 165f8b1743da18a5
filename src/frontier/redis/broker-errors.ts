/** What a call on a broker that has come to nothing ends with. */
import { isTrawlError, TrawlError } from "../../errors.ts";
import { isOutOfMemory, isRefusal } from "./connect.ts";
import type { RedisPlace } from "./place.ts";
import { troubleWords } from "./trouble.ts";

/** What scripts say that find nothing where there was a broker (lib/rows.lua). */
const EMPTIED = "this broker was emptied under a running Trawl";

export type Lost = { op: string; lostMs: number; why: string; cause: Error };

/** No call has been answered for as long as was to be waited. */
export function unreachable(place: RedisPlace, { op, lostMs, why, cause }: Lost): TrawlError {
  return new TrawlError("BROKER_UNREACHABLE", {
    op,
    message: `broker ${place.shown} has not been reached for ${Math.round(lostMs / 1000)} s (${why}); check that it runs and TRAWL_BROKER, or raise TRAWL_BROKER_PATIENCE`,
    detail: { broker: place.shown, lostMs },
    cause,
  });
}

/** For how long what a call wanted to reach has been out of reach; undefined if that is not why it failed. */
export function lostMsOf(error: unknown): number | undefined {
  return isTrawlError(error, "BROKER_UNREACHABLE") ? (error.detail.lostMs as number | undefined) : undefined;
}

/** An answer that no waiting will change. */
export function coded(place: RedisPlace, op: string, cause: unknown): unknown {
  const { message } = cause as Error;
  if (cause instanceof TrawlError) return cause;
  const detail = { broker: place.shown };
  if (isOutOfMemory(cause)) {
    return new TrawlError("BROKER_FULL", {
      op,
      message: `broker ${place.shown} is out of memory (maxmemory); let workers catch up, or raise maxmemory`,
      detail,
      cause,
    });
  }
  if (message.includes(EMPTIED)) {
    const text = `broker ${place.shown}: ${EMPTIED}; restart what runs on it, and submit its jobs again`;
    return new TrawlError("BROKER_UNREACHABLE", { op, message: text, detail, cause });
  }
  if (isRefusal(cause)) {
    return new TrawlError("BROKER_UNREACHABLE", {
      op,
      message: `broker ${place.shown} refuses us: ${message}; ${isAboutPassword(message) ? "check the user and the password in TRAWL_BROKER" : "docs/operations.md lists the rights that are needed"}`,
      detail,
      cause,
    });
  }
  return new TrawlError("BROKER_UNREACHABLE", {
    op,
    message: `broker ${place.shown} failed: ${troubleWords(cause as Error)}`,
    detail,
    cause,
  });
}

function isAboutPassword(message: string): boolean {
  return /^(NOAUTH|WRONGPASS)\b|invalid username/i.test(message);
}
