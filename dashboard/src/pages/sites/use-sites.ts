/** Sites by waiting URLs (polled), or all sites by name (loaded page by page). */
import type { SiteOut } from "../../../../src/client/wire-types.ts";
import { usePagedRows } from "../../paged-rows.ts";
import { usePolled } from "../../polled.ts";
import { rawRequests } from "../../session.ts";

export type SiteOrder = "waiting" | "name";

export type SiteRows = {
  /** Undefined until the first response. */
  sites: readonly SiteOut[] | undefined;
  error: unknown;
  isLoading: boolean;
  loadMore: (() => void) | undefined;
  reload: () => void;
};

type SitePage = { sites: SiteOut[]; next: string | null };

const POLL_MS = 4_000;
/** The maximum that the API allows for this order. */
export const BUSIEST = 500;
/** 100,000 sites need 50 requests, each sent only when the user scrolls near the end. */
const PAGE_SITES = 2_000;
const NONE: SitePage = { sites: [], next: null };

/** Hooks must always run, so both are called; the inactive one sends no request. */
export function useSites(q: string, order: SiteOrder): SiteRows {
  const isBusy = order === "waiting";
  const busy = usePolled(
    (signal) => (isBusy ? fetchSites({ q, sort: "waiting", limit: BUSIEST }, signal) : Promise.resolve(NONE)),
    isBusy ? POLL_MS : 0,
    [q, order],
  );
  const named = usePagedRows(
    async (cursor, signal) => {
      const { sites, next } = isBusy ? NONE : await fetchSites({ q, limit: PAGE_SITES, cursor }, signal);
      return { rows: sites, next };
    },
    [q, order],
  );
  if (isBusy) return { ...busy, sites: busy.value?.sites, loadMore: undefined };
  return { ...named, sites: named.isLoading && named.rows.length === 0 ? undefined : named.rows };
}

function fetchSites(
  query: { q: string; limit: number; sort?: string; cursor?: string | undefined },
  signal: AbortSignal,
): Promise<SitePage> {
  const present = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const search = new URLSearchParams(present.map(([name, value]) => [name, String(value)]));
  return rawRequests().json<SitePage>(`/v1/sites?${search}`, { signal });
}
