import type { ComponentChildren } from "preact";
import { Tip } from "./tip.tsx";

type StatProps = {
  label: string;
  value: ComponentChildren;
  /** What the number is, and how it came to be. */
  tip: string;
  /** Beside it, smaller. */
  more?: ComponentChildren;
  tone?: "bad" | "warn" | undefined;
};

/** One number of importance. */
export function Stat({ label, value, tip, more, tone }: StatProps) {
  return (
    <div class={tone === undefined ? "stat" : `stat stat-${tone}`}>
      <p class="stat-label">{label}</p>
      <p class="stat-value">
        <Tip says={tip}>{value}</Tip>
      </p>
      <p class="stat-more">{more}</p>
    </div>
  );
}
