/** Under a list: how much of it is there, and what goes on. */
import type { Listing } from "../../listing.ts";
import { count, plural } from "../../ui/format.ts";

type FootProps = {
  listing: Listing<unknown>;
  /** One of them; more have an s. */
  what: string;
  isSearch: boolean;
  hasMore?: boolean;
};

export function ListingFoot({ listing, what, isSearch, hasMore = false }: FootProps) {
  const { rows, looked, isLoading, isOver, goOn, reload } = listing;
  return (
    <p class="listing-foot">
      <span>
        {isSearch
          ? `${count(rows.length)} found in ${plural(looked, what)}${isOver ? "" : " so far"}`
          : `${plural(rows.length, what)}${isOver ? "" : " loaded; more come as you scroll"}`}
      </span>
      {goOn !== undefined && (
        <button type="button" class="small" onClick={goOn}>
          Search on
        </button>
      )}
      {isOver && hasMore && !isLoading && (
        <button type="button" class="small" onClick={reload}>
          There are more by now: load again
        </button>
      )}
    </p>
  );
}
