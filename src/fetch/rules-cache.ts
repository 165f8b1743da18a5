/** An LRU cache, limited by number of entries and by total weight. */
type RulesCache<Value> = {
  find(key: string): Value | undefined;
  keep(key: string, value: Value, weight: number): void;
};

export function createRulesCache<Value>({
  maxEntries,
  maxWeight,
}: {
  maxEntries: number;
  maxWeight: number;
}): RulesCache<Value> {
  // A Map keeps insertion order: removing an entry and adding it again makes it the most recent.
  const entries = new Map<string, { value: Value; weight: number }>();
  let totalWeight = 0;

  function drop(key: string): void {
    totalWeight -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  }

  return {
    find(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    keep(key, value, weight) {
      drop(key);
      entries.set(key, { value, weight });
      totalWeight += weight;
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries && totalWeight <= maxWeight) break;
        drop(oldest);
      }
    },
  };
}
