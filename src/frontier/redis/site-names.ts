/**
 * The names of a shard's sites, in order, which Redis keeps in none. Sites are never taken away: as long as there are as
 * many, they are the same, and nobody reads them again, page after page of a listing.
 */
import type { Shard } from "./shards.ts";

export type NamedSite = { name: string; number: number };

export type SiteNames = {
  /** By name. */
  of(shard: Shard): Promise<readonly NamedSite[]>;
};

/** Fields read in one go. */
const PAGE = 1000;

export function createSiteNames(): SiteNames {
  // A million names are some 100 MB: they are remembered only until the memory is wanted.
  const known = new Map<Shard, { count: number; names: WeakRef<readonly NamedSite[]> }>();
  return {
    async of(shard) {
      // Asked for before they are read: one that is added meanwhile makes the next count another.
      const count = Number(await shard.ask("HLEN", shard.key("sites")));
      const last = known.get(shard);
      const remembered = last?.count === count ? last.names.deref() : undefined;
      if (remembered !== undefined) return remembered;
      const names = [...(await scanHash(shard, "sites"))]
        .map(([name, number]) => ({ name, number }))
        .sort((one, other) => (one.name < other.name ? -1 : 1));
      known.set(shard, { count, names: new WeakRef(names) });
      return names;
    },
  };
}

/** All of a hash of words and numbers, which Redis keeps in no order: each once. */
export async function scanHash(shard: Shard, name: "sites" | "site-waiting"): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (let cursor = "0"; ; ) {
    const [next, page] = (await shard.ask("HSCAN", shard.key(name), cursor, "COUNT", PAGE)) as [string, string[]];
    for (let at = 0; at < page.length; at += 2) found.set(page[at] ?? "", Number(page[at + 1]));
    cursor = next;
    if (cursor === "0") return found;
  }
}
