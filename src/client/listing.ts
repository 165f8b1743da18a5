/** Reads paginated listings. */
import type { Requests } from "./requests.ts";

export type Signal = { signal?: AbortSignal };

const PAGE = 500;

/** All entries of a listing, one page per request. `path` may have a query. */
export async function* listAll<K extends string, T>(
  requests: Requests,
  path: string,
  key: K,
  { signal, page = PAGE }: Signal & { page?: number } = {},
): AsyncGenerator<T, void> {
  const first = `${path}${path.includes("?") ? "&" : "?"}limit=${page}`;
  for (let at = first; ; ) {
    const found = await requests.json<{ next: string | null } & Record<K, T[]>>(at, { signal });
    yield* found[key];
    if (found.next === null) return;
    at = `${first}&cursor=${found.next}`;
  }
}

/** `?a=1&b=2` from the defined values; empty if there are none. */
export function queryOf(values: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  if (given.length === 0) return "";
  return `?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&")}`;
}
