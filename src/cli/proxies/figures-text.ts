/** The output of `trawl proxies`. */
import type { Figures, figuresOf } from "../../fetch/exit/figures.ts";
import { table } from "../terminal.ts";

export function figuresText({ proxies, providers }: ReturnType<typeof figuresOf>): string {
  const own = table(
    [
      ["PROXY", "PROVIDER", "STATE", "TAGS", "REQUESTS", "SUCCESS", "BLOCKED", "AVERAGE", "COST", "EJECTED AT"],
      ...proxies.map((row) => [
        ...[row.proxy, row.provider, row.state, row.tags.join(",")],
        ...cellsOf(row),
        row.ejectedAt.slice(0, SITES_SHOWN).join(", ") + (row.ejectedAt.length > SITES_SHOWN ? ", …" : ""),
      ]),
    ],
    { right: [4, 5, 6, 7, 8] },
  );
  if (providers.length === 0) return own;
  const bySite = table(
    [
      ["PROVIDER", "SITE", "REQUESTS", "SUCCESS", "BLOCKED", "AVERAGE", "COST"],
      ...providers.map((row) => [row.provider, row.site, ...cellsOf(row)]),
    ],
    { right: [2, 3, 4, 5, 6] },
  );
  return `${own}\n${bySite}`;
}

const SITES_SHOWN = 3;

function cellsOf({ requests, success, blocked, averageMs, cost }: Figures): string[] {
  const share = success === null ? "–" : `${Math.round(success * 1000) / 10} %`;
  return [String(requests), share, String(blocked), averageMs === null ? "–" : `${averageMs} ms`, String(cost)];
}
