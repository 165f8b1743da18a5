/** Figures over the rounds. Pure. */

/** Median, minimum and maximum; undefined without values. */
export function spread(values) {
  if (values.length === 0) return undefined;
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const median = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle) - 1]) / 2;
  return { median, min: sorted[0], max: sorted.at(-1) };
}
