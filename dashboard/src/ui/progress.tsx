/** A progress bar. The caller shows the numbers as text next to it. */
export function Progress({ done, all, label }: { done: number; all: number; label: string }) {
  const share = all === 0 ? 0 : Math.min(1, done / all);
  return (
    <div
      class="progress"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.floor(share * 100)}
    >
      <div class="progress-done" style={{ transform: `scaleX(${share})` }} />
    </div>
  );
}
