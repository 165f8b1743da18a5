/** Formats numbers for display: with thousands separators, with a unit, or with a noun. */

/**
 * Formats as `toLocaleString("en-US")` does. The first call of `toLocaleString` takes 20 ms and most commands print a
 * count, so integers are formatted without it.
 */
export function formatCount(count: number): string {
  return Number.isSafeInteger(count) ? String(count).replace(/\B(?=(?:\d{3})+$)/g, ",") : count.toLocaleString("en-US");
}

export function formatBytes(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** `1 page`, `2 pages`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
