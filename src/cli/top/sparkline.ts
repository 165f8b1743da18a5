const BARS = "▁▂▃▄▅▆▇█";

/** The last values, one a cell, the newest on the right; what nobody knows is a gap. */
export function sparkline(values: readonly (number | null)[], width: number): string {
  const shown = values.slice(-Math.max(0, width));
  if (width <= 0) return "";
  const most = Math.max(0, ...shown.map((value) => value ?? 0));
  const bars = shown.map((value) => {
    if (value === null) return " ";
    const height = most === 0 ? 0 : Math.ceil((value / most) * (BARS.length - 1));
    return BARS[height] ?? " ";
  });
  return bars.join("").padStart(width);
}
