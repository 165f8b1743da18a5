import { now } from "../visible.ts";
import { absolute, ago, UNKNOWN } from "./format.ts";
import { Tip } from "./tip.tsx";

/** A time relative to now; the tooltip has the absolute time. */
export function Ago({ at, isUnfocusable = true }: { at: string | number | null | undefined; isUnfocusable?: boolean }) {
  if (at === null || at === undefined) return <span>{UNKNOWN}</span>;
  const ms = typeof at === "number" ? at : Date.parse(at);
  return (
    <Tip text={absolute(ms)} isUnfocusable={isUnfocusable} class="plain">
      <time dateTime={new Date(ms).toISOString()}>{ago(ms, now.value)}</time>
    </Tip>
  );
}
