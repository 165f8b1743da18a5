import { plural } from "../../ui/format.ts";

/** Below what was told: how much was not, and a way to hear how it stands by now. */
export function LookAgain({ more, onLook }: { more: number; onLook: () => void }) {
  return (
    <p class="look-again">
      <button type="button" onClick={onLook}>
        Look again
      </button>
      {more > 0 && <span class="quiet">{plural(more, "older one is", "older ones are")} not shown.</span>}
    </p>
  );
}
