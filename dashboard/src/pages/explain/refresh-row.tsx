import { plural } from "../../ui/format.ts";

/** A refresh button, and the number of older entries that are not shown. */
export function RefreshRow({ hidden, onRefresh }: { hidden: number; onRefresh: () => void }) {
  return (
    <p class="refresh-row">
      <button type="button" onClick={onRefresh}>
        Refresh
      </button>
      {hidden > 0 && <span class="muted">{plural(hidden, "older entry is", "older entries are")} not shown.</span>}
    </p>
  );
}
