/** The units of durations and rates, in ms. */
export const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof UNIT_MS;

/**
 * Parses a duration (`500ms`, `1s`, `1.5h`, `3m 12s`, `1d`) into milliseconds; a bare number is milliseconds. Undefined
 * for anything else, including negative and infinite durations.
 */
export function parseDurationMs(value: string | number): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) && value >= 0 ? value : undefined;
  const text = value.trim().toLowerCase();
  if (/^\d+$/.test(text)) return parseDurationMs(Number(text));
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d)\s*)+$/.test(text)) return undefined;
  let totalMs = 0;
  for (const [, count, unit] of text.matchAll(/([\d.]+)(ms|s|m|h|d)/g))
    totalMs += Number(count) * UNIT_MS[unit as Unit];
  return parseDurationMs(totalMs);
}

/**
 * Formats a duration with its two largest units, rounded (`820ms`, `1.5s`, `45s`, `3m 12s`, `2h 5m`, `1d 3h`).
 * `parseDurationMs` parses it back to within half of the smaller unit.
 */
export function formatDuration(ms: number): string {
  if (Math.round(ms) < UNIT_MS.s) return `${Math.max(0, Math.round(ms))}ms`;
  if (Math.round(ms / 100) < 100) return `${Math.round(ms / 100) / 10}s`;
  if (Math.round(ms / UNIT_MS.s) < 60) return `${Math.round(ms / UNIT_MS.s)}s`;
  if (Math.round(ms / UNIT_MS.s) < 3600) return twoUnits(ms, "m", "s");
  if (Math.round(ms / UNIT_MS.m) < 24 * 60) return twoUnits(ms, "h", "m");
  return twoUnits(ms, "d", "h");
}

/** Formats with two units. Rounds to the smaller unit first, so that 59.9 s is never shown as 60 s. */
function twoUnits(ms: number, large: Unit, small: Unit): string {
  const perLarge = UNIT_MS[large] / UNIT_MS[small];
  const total = Math.round(ms / UNIT_MS[small]);
  const rest = total % perLarge;
  const whole = `${(total - rest) / perLarge}${large}`;
  return rest === 0 ? whole : `${whole} ${rest}${small}`;
}
