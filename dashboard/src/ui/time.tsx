import { now } from "../visible.ts";
import { absolute, ago, UNKNOWN } from "./format.ts";
import { Tip } from "./tip.tsx";

/** How long ago, or how soon; the instant itself in the tip. */
export function Ago({ at, isQuiet = true }: { at: string | number | null | undefined; isQuiet?: boolean }) {
  if (at === null || at === undefined) return <span>{UNKNOWN}</span>;
  const ms = typeof at === "number" ? at : Date.parse(at);
  return (
    <Tip says={absolute(ms)} isQuiet={isQuiet} class="plain">
      <time dateTime={new Date(ms).toISOString()}>{ago(ms, now.value)}</time>
    </Tip>
  );
}
