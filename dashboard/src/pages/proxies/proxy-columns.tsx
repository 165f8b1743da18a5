/** The columns of the two tables of proxies. */
import { Badge } from "../../ui/badge.tsx";
import { absolute, count, decimal, duration, percent, plural, roundedUp } from "../../ui/format.ts";
import { Scraped } from "../../ui/scraped.tsx";
import type { ScreenSize } from "../../ui/screen-size.ts";
import type { Column } from "../../ui/table.tsx";
import { Tip } from "../../ui/tip.tsx";
import { now } from "../../visible.ts";
import type { ProxyRow, SiteRow } from "./proxy-rows.ts";

type Figures = Pick<SiteRow, "requests" | "success" | "blocked" | "averageMs" | "cost">;

const STATE_TIP =
  "After several failures or blocks in a row, a proxy is ejected: no requests are sent through it. Then one request tries it again.";

export const SITE_COLUMNS: readonly Column<SiteRow>[] = [
  {
    id: "site",
    title: "Site",
    rem: 5,
    grow: 3,
    sortBy: ({ site }) => site,
    cell: ({ site }) => <Scraped text={site} max={300} />,
  },
  {
    id: "provider",
    title: "Provider",
    rem: 4,
    grow: 2,
    sortBy: ({ provider }) => provider,
    cell: ({ provider }) => <Scraped text={provider} max={200} />,
  },
  {
    id: "state",
    title: "State",
    tip: STATE_TIP,
    rem: 9,
    grow: 0,
    sortBy: ({ ejected, proxies }) => (proxies === 0 ? 0 : ejected / proxies),
    cell: (row) => <SiteState row={row} />,
  },
  ...figureColumns<SiteRow>("tablet"),
];

export const PROXY_COLUMNS: readonly Column<ProxyRow>[] = [
  {
    id: "proxy",
    title: "Proxy",
    rem: 5,
    grow: 3,
    sortBy: ({ proxy }) => proxy,
    cell: ({ proxy }) => <Scraped text={proxy} max={300} />,
  },
  {
    id: "state",
    title: "State",
    tip: STATE_TIP,
    rem: 9,
    grow: 0,
    sortBy: ({ state, ejectedAt }) => (state === "healthy" ? ejectedAt.length : 1_000_000),
    cell: (row) => <ProxyState row={row} />,
  },
  {
    id: "provider",
    title: "Provider",
    rem: 6,
    from: "tablet",
    sortBy: ({ provider }) => provider,
    cell: ({ provider }) => <Scraped text={provider} max={200} />,
  },
  {
    id: "tags",
    title: "Tags",
    tip: "Jobs select proxies by these tags.",
    rem: 6,
    grow: 2,
    from: "desktop",
    cell: ({ tags }) => <Scraped text={tags.join(", ")} max={200} />,
  },
  ...figureColumns<ProxyRow>("phone"),
];

function figureColumns<Row extends Figures>(from: ScreenSize): Column<Row>[] {
  return [
    {
      id: "success",
      title: "Success",
      tip: "The share of requests to which the site responded without a block.",
      isNumber: true,
      rem: 4.75,
      from,
      sortBy: ({ success }) => success,
      cell: ({ success }) => percent(success),
    },
    {
      id: "average",
      title: "Response time",
      tip: "The average of the successful requests.",
      isNumber: true,
      rem: 7.5,
      from: "tablet",
      sortBy: ({ averageMs }) => averageMs,
      cell: ({ averageMs }) => duration(averageMs),
    },
    {
      id: "blocked",
      title: "Blocked",
      tip: "Responses that are a page of a bot protection or a captcha, or a 403, or a 429 without Retry-After.",
      isNumber: true,
      rem: 5,
      from: "tablet",
      sortBy: ({ blocked }) => blocked,
      cell: ({ blocked }) => count(blocked),
    },
    {
      id: "requests",
      title: "Requests",
      isNumber: true,
      rem: 5.5,
      from: "tablet",
      sortBy: ({ requests }) => requests,
      cell: ({ requests }) => count(requests),
    },
    {
      id: "cost",
      title: "Cost",
      tip: "The sum of the costs of the requests, in the unit of your settings.",
      isNumber: true,
      rem: 5,
      from: "desktop",
      sortBy: ({ cost }) => cost,
      cell: ({ cost }) => decimal(cost),
    },
  ];
}

function SiteState({ row: { proxies, ejected, ejectedUntil } }: { row: SiteRow }) {
  if (ejectedUntil === null) return <Badge tone="good">healthy</Badge>;
  const until = Date.parse(ejectedUntil);
  const tip = `${count(ejected)} of ${plural(proxies, "proxy", "proxies")} ejected, until ${absolute(until)}.`;
  const label = proxies === 1 ? "ejected" : `${count(ejected)}/${count(proxies)} ejected`;
  return (
    <Tip text={tip} isUnfocusable>
      <Badge tone={ejected === proxies ? "bad" : "warn"}>{`${label}${left(until)}`}</Badge>
    </Tip>
  );
}

function ProxyState({ row: { state, ejectedUntil, ejectedAt } }: { row: ProxyRow }) {
  if (state === "ejected" && ejectedUntil !== null) {
    const until = Date.parse(ejectedUntil);
    return (
      <Tip text={`Ejected at all sites until ${absolute(until)}.`} isUnfocusable>
        <Badge tone="bad">{`ejected${left(until)}`}</Badge>
      </Tip>
    );
  }
  if (state === "probation")
    return (
      <Tip text="The ejection is over. The next request tries the proxy again." isUnfocusable>
        <Badge tone="warn">probation</Badge>
      </Tip>
    );
  if (ejectedAt.length === 0) return <Badge tone="good">healthy</Badge>;
  return (
    <Tip text={`Not healthy at ${ejectedAt.slice(0, SITES_SHOWN).join(", ")}.`} isUnfocusable>
      <Badge tone="warn">{`ejected at ${plural(ejectedAt.length, "site")}`}</Badge>
    </Tip>
  );
}

const SITES_SHOWN = 20;

/** The rest of the ejection; empty if it is over, until the next response of the server. */
function left(until: number): string {
  const ms = until - now.value;
  return ms <= 0 ? "" : `, ${roundedUp(ms)}`;
}
