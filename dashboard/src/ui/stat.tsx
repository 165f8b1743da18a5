import type { ComponentChildren } from "preact";
import { Tip } from "./tip.tsx";

type StatProps = {
  label: string;
  value: ComponentChildren;
  /** Explains the number and how it is computed. */
  tip: string;
  /** A second, smaller line. */
  more?: ComponentChildren;
  tone?: "bad" | "warn" | undefined;
};

/** One key number. */
export function Stat({ label, value, tip, more, tone }: StatProps) {
  return (
    <div class={tone === undefined ? "stat" : `stat stat-${tone}`}>
      <p class="stat-label">{label}</p>
      <p class="stat-value">
        <Tip text={tip}>{value}</Tip>
      </p>
      <p class="stat-more">{more}</p>
    </div>
  );
}
