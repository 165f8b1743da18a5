const WIDTH = 120;
const HEIGHT = 18;

/** A line without axes: only whether it goes up or down. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  if (values.length < 2) return null;
  const most = Math.max(...values, 1e-9);
  const step = WIDTH / (values.length - 1);
  const points = values.map(
    (value, nth) => `${(nth * step).toFixed(1)},${(HEIGHT - 1 - (value / most) * (HEIGHT - 2)).toFixed(1)}`,
  );
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <polyline points={points.join(" ")} />
    </svg>
  );
}
