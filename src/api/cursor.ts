/** Where a listing goes on: opaque to whoever holds it, so that it may change. */
import { z } from "zod";
import { TrawlError } from "../errors.ts";

const cursor = z.string().max(1_000).optional();

/** What every listing takes. */
export const LISTING = { limit: z.coerce.number().int().min(1).max(500).default(50), cursor };

export function toCursor(place: Readonly<Record<string, string | number>>): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}

/** Throws BAD_REQUEST for what was not made by `toCursor`, with these keys. */
export function fromCursor<K extends string>(cursor: string, keys: readonly K[]): Record<K, string | number> {
  const place = parsed(cursor);
  const isWhole = keys.every((key) => ["string", "number"].includes(typeof place?.[key]));
  if (place !== undefined && isWhole) return place as Record<K, string | number>;
  return refuse();
}

/** The place of a listing by id: 0 without a cursor. Throws BAD_REQUEST. */
export function idFromCursor(cursor: string | undefined): number {
  return cursor === undefined ? 0 : countFromCursor(cursor, "after");
}

/** A place that is a whole number. Throws BAD_REQUEST. */
export function countFromCursor(cursor: string, key: string): number {
  const count = fromCursor(cursor, [key])[key];
  return Number.isSafeInteger(count) && Number(count) >= 0 ? Number(count) : refuse();
}

function refuse(): never {
  throw new TrawlError("BAD_REQUEST", {
    op: "api.cursor",
    message: "query.cursor: is not one that this listing gave; take `next` of its last answer, or leave it out",
  });
}

function parsed(cursor: string): Record<string, unknown> | undefined {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    return typeof place === "object" && place !== null ? (place as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
