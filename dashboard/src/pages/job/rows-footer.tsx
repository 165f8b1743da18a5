/** Below a list: how many rows are loaded, and buttons to load more. */
import type { PagedRows } from "../../paged-rows.ts";
import { plural } from "../../ui/format.ts";

type FooterProps = {
  paged: PagedRows<unknown>;
  /** The singular noun for a row. */
  what: string;
  isSearch: boolean;
  hasMore?: boolean;
};

export function RowsFooter({ paged, what, isSearch, hasMore = false }: FooterProps) {
  const { rows, searched, isLoading, isOver, continueSearch, reload } = paged;
  return (
    <p class="rows-footer">
      <span>
        {isSearch
          ? `${plural(rows.length, "match", "matches")} in ${plural(searched, what)}${isOver ? "" : " so far"}`
          : `${plural(rows.length, what)}${isOver ? "" : " loaded. Scroll to load more."}`}
      </span>
      {continueSearch !== undefined && (
        <button type="button" class="small" onClick={continueSearch}>
          Continue search
        </button>
      )}
      {isOver && hasMore && !isLoading && (
        <button type="button" class="small" onClick={reload}>
          Load new rows
        </button>
      )}
    </p>
  );
}
