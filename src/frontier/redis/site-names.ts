/**
 * The sorted names of a shard's sites; Redis stores them unsorted. Sites are never removed, so as long as their number
 * is the same the cached names are valid, and the pages of a listing do not read them again.
 */
import type { Shard } from "./cluster/shards.ts";

export type NamedSite = { name: string; number: number };

type SiteNames = {
  /** Sorted by name. */
  of(shard: Shard): Promise<readonly NamedSite[]>;
};

/** Fields per HSCAN call. */
const PAGE = 1000;

export function createSiteNames(): SiteNames {
  // A million names take about 100 MB, so the cache holds them weakly.
  const known = new Map<Shard, { count: number; names: WeakRef<readonly NamedSite[]> }>();
  return {
    async of(shard) {
      // The count is read before the names: a site that is added in between changes the count of the next call.
      const count = Number(await shard.read("HLEN", shard.key("sites")));
      const last = known.get(shard);
      const cached = last?.count === count ? last.names.deref() : undefined;
      if (cached !== undefined) return cached;
      const names = [...(await scanHash(shard, "sites"))]
        .map(([name, number]) => ({ name, number }))
        .sort((one, other) => (one.name < other.name ? -1 : 1));
      known.set(shard, { count, names: new WeakRef(names) });
      return names;
    },
  };
}

/** Reads a whole hash of names and numbers. */
export async function scanHash(shard: Shard, name: "sites" | "site-waiting"): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (let cursor = "0"; ; ) {
    const [next, page] = (await shard.read("HSCAN", shard.key(name), cursor, "COUNT", PAGE)) as [string, string[]];
    for (let at = 0; at < page.length; at += 2) found.set(page[at] ?? "", Number(page[at + 1]));
    cursor = next;
    if (cursor === "0") return found;
  }
}
