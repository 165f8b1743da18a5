/** The rows of the proxies page: by provider and site, or by proxy. Pure. */
import type { ProxiesOut } from "../../../../src/client/wire-types.ts";

export type SiteRow = ProxiesOut["providers"][number];
export type ProxyRow = ProxiesOut["proxies"][number];

/** The rows that contain the text in any name, and that are not healthy if `isEjectedOnly`. */
export function siteRowsOf({ providers }: ProxiesOut, text: string, isEjectedOnly: boolean): SiteRow[] {
  return providers.filter((row) => matches([row.provider, row.site], text) && (!isEjectedOnly || row.ejected > 0));
}

export function proxyRowsOf({ proxies }: ProxiesOut, text: string, isEjectedOnly: boolean): ProxyRow[] {
  return proxies.filter(
    (row) =>
      matches([row.proxy, row.provider, ...row.tags, ...row.ejectedAt], text) &&
      (!isEjectedOnly || row.state !== "healthy" || row.ejectedAt.length > 0),
  );
}

export type ProxyTotals = { requests: number; success: number | null; blocked: number; cost: number; ejected: number };

/** `ejected` counts the proxies that are ejected at all sites or at some. */
export function totalsOf({ proxies }: ProxiesOut): ProxyTotals {
  const sum = (of: (row: ProxyRow) => number) => proxies.reduce((all, row) => all + of(row), 0);
  const requests = sum((row) => row.requests);
  return {
    requests,
    success: requests === 0 ? null : sum((row) => row.requests * (row.success ?? 0)) / requests,
    blocked: sum((row) => row.blocked),
    cost: sum((row) => row.cost),
    ejected: proxies.filter((row) => row.state !== "healthy" || row.ejectedAt.length > 0).length,
  };
}

function matches(names: readonly string[], text: string): boolean {
  return names.some((name) => name.toLowerCase().includes(text.toLowerCase()));
}
