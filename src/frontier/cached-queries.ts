/**
 * A frontier that caches expensive queries. Groups of dead letters and the busiest sites need a scan of all entries,
 * and every dashboard tab sends these queries every few seconds. Concurrent callers of the same query share one result.
 * The result is also reused for `reuseFactor` times as long as the query took, so that the broker spends most of its
 * time on other work. The result of a fast query is therefore reused only briefly.
 */
import type { FrontierAdmin } from "./frontier-admin.ts";

type Queries = Pick<FrontierAdmin, "groupDead" | "listBusySites">;
type Changes = Pick<FrontierAdmin, "replayDead" | "discardDead" | "setSitePolicy">;
type CachedQueriesOptions = {
  reuseFactor: number;
  /** Max time for which a result is reused. */
  maxAgeMs: number;
  /** Max cached results. */
  maxEntries: number;
};

export function withCachedQueries<F extends Queries & Changes>(
  frontier: F,
  { now }: { now: () => number },
  { reuseFactor, maxAgeMs, maxEntries }: CachedQueriesOptions,
): F {
  let cache = new Map<string, { result: Promise<unknown>; freshUntil: number }>();

  function shared<T>(key: string, query: () => Promise<T>): Promise<T> {
    const cached = cache.get(key);
    if (cached !== undefined && now() < cached.freshUntil) return cached.result as Promise<T>;
    const startedAt = now();
    const result = query();
    const entry = { result, freshUntil: Number.POSITIVE_INFINITY };
    cache.delete(key); // so that the new entry is the last one
    cache.set(key, entry);
    const oldest = cache.keys().next().value;
    if (cache.size > maxEntries && oldest !== undefined) cache.delete(oldest);
    result.then(
      () => {
        entry.freshUntil = now() + Math.min(maxAgeMs, reuseFactor * (now() - startedAt));
      },
      () => {
        entry.freshUntil = 0;
      },
    );
    return result;
  }

  /** Makes a change, then drops all results, also those of running queries, so that the next query shows the change. */
  async function changing<T>(change: () => Promise<T>): Promise<T> {
    try {
      return await change();
    } finally {
      cache = new Map();
    }
  }

  const cachedMethods: Queries & Changes = {
    groupDead: (...args) => shared(JSON.stringify(["groupDead", ...args]), () => frontier.groupDead(...args)),
    listBusySites: (...args) => shared(JSON.stringify(["busy", ...args]), () => frontier.listBusySites(...args)),
    replayDead: (...args) => changing(() => frontier.replayDead(...args)),
    discardDead: (...args) => changing(() => frontier.discardDead(...args)),
    setSitePolicy: (...args) => changing(() => frontier.setSitePolicy(...args)),
  };
  // All other methods are inherited. Copying them would not work for a frontier that is itself such a wrapper, because
  // its own methods are inherited too.
  return Object.assign(Object.create(frontier), cachedMethods) as F;
}
