/** Turns failures of Redis calls into TrawlErrors. */
import { isTrawlError, TrawlError } from "../../../errors.ts";
import type { RedisUrl } from "./connection-url.ts";
import { isOutOfMemory, isRefusal } from "./ioredis.ts";
import { describeError } from "./redis-errors.ts";

/** The error of a script that finds no data where a broker was (lib/rows.lua). */
const EMPTIED = "this broker was emptied while Trawl was running";

type Unreachable = { op: string; lostMs: number; why: string; cause: Error };

/** The error if no call has been answered for `lostMs`. */
export function unreachable(url: RedisUrl, { op, lostMs, why, cause }: Unreachable): TrawlError {
  return new TrawlError("BROKER_UNREACHABLE", {
    op,
    message: `broker ${url.redacted} has not been reached for ${Math.round(lostMs / 1000)} s (${why}); check that it is running and that TRAWL_BROKER is correct, or raise TRAWL_BROKER_RETRY_FOR`,
    detail: { broker: url.redacted, lostMs },
    cause,
  });
}

/** For how long the target of a failed call has been unreachable; undefined if the call failed for another reason. */
export function lostMsOf(error: unknown): number | undefined {
  return isTrawlError(error, "BROKER_UNREACHABLE") ? (error.detail.lostMs as number | undefined) : undefined;
}

/** The TrawlError of a failure that a retry does not fix. */
export function toTrawlError(url: RedisUrl, op: string, cause: unknown): unknown {
  const { message } = cause as Error;
  if (cause instanceof TrawlError) return cause;
  const detail = { broker: url.redacted };
  if (isOutOfMemory(cause)) {
    return new TrawlError("BROKER_FULL", {
      op,
      message: `broker ${url.redacted} is out of memory (maxmemory); wait until workers have fetched some URLs, or raise maxmemory`,
      detail,
      cause,
    });
  }
  if (message.includes(EMPTIED)) {
    const text = `broker ${url.redacted}: ${EMPTIED}; restart all Trawl processes, and submit the jobs again`;
    return new TrawlError("BROKER_UNREACHABLE", { op, message: text, detail, cause });
  }
  if (isRefusal(cause)) {
    const fix = isAboutPassword(message)
      ? "check the user and the password in TRAWL_BROKER"
      : "docs/operations.md lists the permissions that Trawl needs";
    return new TrawlError("BROKER_UNREACHABLE", {
      op,
      message: `broker ${url.redacted} denies access: ${message}; ${fix}`,
      detail,
      cause,
    });
  }
  return new TrawlError("BROKER_UNREACHABLE", {
    op,
    message: `broker ${url.redacted} failed: ${describeError(cause as Error)}`,
    detail,
    cause,
  });
}

function isAboutPassword(message: string): boolean {
  return /^(NOAUTH|WRONGPASS)\b|invalid username/i.test(message);
}
