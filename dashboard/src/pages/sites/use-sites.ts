/** The sites that are looked for: where most waits, anew every few seconds; or by name, as many as one scrolls to. */
import type { SiteOut } from "../../../../src/api/wire-fleet.ts";
import { useListing } from "../../listing.ts";
import { usePolled } from "../../polled.ts";
import { rawRequests } from "../../session.ts";

export type SiteOrder = "waiting" | "name";

export type FoundSites = {
  /** Undefined until they are known. */
  sites: readonly SiteOut[] | undefined;
  error: unknown;
  isLoading: boolean;
  loadMore: (() => void) | undefined;
  reload: () => void;
};

type SitePage = { sites: SiteOut[]; next: string | null };

const LOOK_MS = 4_000;
/** As many as the API gives of the busiest. */
export const BUSIEST = 500;
/** A hundred thousand sites are 50 questions, and each is asked only when one comes near. */
const PAGE = 2_000;
const NONE: SitePage = { sites: [], next: null };

/** The hooks of both run in either case; who is not asked for asks nobody. */
export function useSites(q: string, order: SiteOrder): FoundSites {
  const isBusy = order === "waiting";
  const busy = usePolled(
    (signal) => (isBusy ? askSites({ q, sort: "waiting", limit: BUSIEST }, signal) : Promise.resolve(NONE)),
    isBusy ? LOOK_MS : 0,
    [q, order],
  );
  const named = useListing(
    async (cursor, signal) => {
      const { sites, next } = isBusy ? NONE : await askSites({ q, limit: PAGE, cursor }, signal);
      return { rows: sites, next };
    },
    [q, order],
  );
  if (isBusy) return { ...busy, sites: busy.value?.sites, loadMore: undefined };
  return { ...named, sites: named.isLoading && named.rows.length === 0 ? undefined : named.rows };
}

function askSites(
  query: { q: string; limit: number; sort?: string; cursor?: string | undefined },
  signal: AbortSignal,
): Promise<SitePage> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const words = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return rawRequests().json<SitePage>(`/v1/sites?${words}`, { signal });
}
