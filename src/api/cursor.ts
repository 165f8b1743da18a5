/** Cursors of listings. A client must treat them as opaque: their contents may change. */
import { z } from "zod";
import { type JobPosition, WRONG_CURSOR } from "../control/list-jobs.ts";
import { TrawlError } from "../errors.ts";

const cursor = z.string().max(1_000).optional();

/** The query parameters of every listing. */
export const LISTING = { limit: z.coerce.number().int().min(1).max(500).default(50), cursor };

export function toCursor(position: Readonly<Record<string, string | number>>): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/** Decodes a cursor. Throws BAD_REQUEST if it cannot be decoded or lacks one of the keys. */
export function fromCursor<K extends string>(cursor: string, keys: readonly K[]): Record<K, string | number> {
  const position = parsed(cursor);
  const isComplete = keys.every((key) => ["string", "number"].includes(typeof position?.[key]));
  if (position !== undefined && isComplete) return position as Record<K, string | number>;
  return refuse();
}

/** The id after which a listing by id continues; 0 without a cursor. Throws BAD_REQUEST. */
export function idFromCursor(cursor: string | undefined): number {
  return cursor === undefined ? 0 : wholeNumber(fromCursor(cursor, ["after"]).after);
}

/** Where a listing of jobs continues. Throws BAD_REQUEST. */
export function jobPositionFrom(cursor: string | undefined): JobPosition | undefined {
  if (cursor === undefined) return undefined;
  const { n, createdAt } = parsed(cursor) ?? {};
  if (typeof n === "number") return { n: wholeNumber(n) };
  return typeof createdAt === "number" ? { createdAt } : refuse();
}

function wholeNumber(value: string | number): number {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : refuse();
}

function refuse(): never {
  throw new TrawlError("BAD_REQUEST", { op: "api.cursor", message: WRONG_CURSOR });
}

function parsed(cursor: string): Record<string, unknown> | undefined {
  try {
    const position: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    return typeof position === "object" && position !== null ? (position as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
