/** Judges what a crawl brought home: nothing lost, nothing twice. Pure, and without a line in common with src/. */

/** What occurs more than once, and how often. */
export function duplicates(urls: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const url of urls) counts.set(url, (counts.get(url) ?? 0) + 1);
  return new Map([...counts].filter(([, count]) => count > 1));
}

/** What was expected and did not come, each once, in the order expected. What came unasked is `missing(got, expected)`. */
export function missing(expected: Iterable<string>, got: Iterable<string>): string[] {
  const came = new Set(got);
  return [...new Set(expected)].filter((url) => !came.has(url));
}
