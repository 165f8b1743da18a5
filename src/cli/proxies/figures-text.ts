/** The output of `trawl proxies`. */
import { formatBytes } from "../../domain/format-number.ts";
import type { Figures, figuresOf } from "../../fetch/exit/figures.ts";
import { table } from "../terminal.ts";

export function figuresText({ proxies, providers }: ReturnType<typeof figuresOf>): string {
  const own = table(
    [
      [
        "PROXY",
        "PROVIDER",
        "STATE",
        "TAGS",
        "REQUESTS",
        "SUCCESS",
        "BLOCKED",
        "AVERAGE",
        "BYTES",
        "COST",
        "EJECTED AT",
      ],
      ...proxies.map((row) => [
        ...[row.proxy, row.provider, row.state, row.tags.join(",")],
        ...cellsOf(row),
        row.ejectedAt.slice(0, SITES_SHOWN).join(", ") + (row.ejectedAt.length > SITES_SHOWN ? ", …" : ""),
      ]),
    ],
    { right: [4, 5, 6, 7, 8, 9] },
  );
  if (providers.length === 0) return own;
  const bySite = table(
    [
      ["PROVIDER", "SITE", "REQUESTS", "SUCCESS", "BLOCKED", "AVERAGE", "BYTES", "COST"],
      ...providers.map((row) => [row.provider, row.site, ...cellsOf(row)]),
    ],
    { right: [2, 3, 4, 5, 6, 7] },
  );
  return `${own}\n${bySite}`;
}

const SITES_SHOWN = 3;

function cellsOf({ requests, success, blocked, averageMs, bytes, cost }: Figures): string[] {
  const share = success === null ? "–" : `${Math.round(success * 1000) / 10} %`;
  const average = averageMs === null ? "–" : `${averageMs} ms`;
  return [String(requests), share, String(blocked), average, formatBytes(bytes), String(cost)];
}
