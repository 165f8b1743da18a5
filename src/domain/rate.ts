import { UNIT_MS } from "./duration.ts";

/**
 * Parses a rate into the minimum time between two requests, ms: `4/s` is 250, `10/m` is 6000, `1 per 3s` is 3000.
 * `unlimited` and `none` are 0. Undefined for anything else. `0/s` is also invalid: to stop requests, pause the job.
 */
export function parseRate(text: string): number | undefined {
  const rate = text.trim().toLowerCase();
  if (rate === "unlimited" || rate === "none") return 0;
  const parts = RATE.exec(rate);
  if (parts === null) return undefined;
  const [, count, periods = "1", unit = ""] = parts;
  const unitMs = unit === "ms" ? UNIT_MS.ms : UNIT_MS[unit.charAt(0) as "s" | "m" | "h" | "d"];
  const intervalMs = (Number(periods) * unitMs) / Number(count);
  return intervalMs > 0 && Number.isFinite(intervalMs) ? intervalMs : undefined;
}

/** Formats an interval as a rate. `parseRate` parses it back to within 0.1 %. */
export function formatRate(intervalMs: number): string {
  if (intervalMs <= 0) return "unlimited";
  for (const unit of ["s", "m", "h"] as const) {
    const count = UNIT_MS[unit] / intervalMs;
    const isWhole = count >= 1 && Math.abs(count - Math.round(count)) < 1e-9 * count;
    if (isWhole && (unit === "s" || count < 1000)) return `${Math.round(count)}/${unit}`;
  }
  if (intervalMs > UNIT_MS.s) return `1 per ${digits(intervalMs / UNIT_MS.s)}s`;
  return `${digits(UNIT_MS.s / intervalMs)}/s`;
}

const RATE =
  /^(\d+(?:\.\d+)?)\s*(?:\/|per\s)\s*(\d+(?:\.\d+)?)?\s*(ms|s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)$/;

/** Four significant digits, without trailing zeros and without an exponent. `parseRate` does not accept exponents. */
function digits(value: number): string {
  const places = Math.max(0, 3 - Math.floor(Math.log10(value)));
  return String(Number(value.toFixed(Math.min(places, 20))));
}
