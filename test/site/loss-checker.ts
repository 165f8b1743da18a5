/** Checks the results of a crawl: no URL is lost, and none occurs twice. Pure; shares no code with src/. */

/** Values that occur more than once, each with its number of occurrences. */
export function duplicates(urls: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const url of urls) counts.set(url, (counts.get(url) ?? 0) + 1);
  return new Map([...counts].filter(([, count]) => count > 1));
}

/**
 * Expected values that are missing, each once, in the expected order. `missing(actual, expected)` gives unexpected
 * ones.
 */
export function missing(expected: Iterable<string>, actual: Iterable<string>): string[] {
  const present = new Set(actual);
  return [...new Set(expected)].filter((url) => !present.has(url));
}
