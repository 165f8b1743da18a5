/** For JSON.stringify: times are whole milliseconds, and nothing else has more than three decimals. */
export function rounded(name: string, value: unknown): unknown {
  if (typeof value !== "number" || Number.isInteger(value)) return value;
  return /(?:At|Ms|^at)$/.test(name) ? Math.round(value) : Number(value.toFixed(3));
}
