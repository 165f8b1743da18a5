import type { SiteOut } from "../../../../src/client/wire-types.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf } from "../../router.ts";
import { api } from "../../session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Empty, Loading } from "../../ui/empty.tsx";
import { absolute, count, duration, roundedUp, UNKNOWN } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Tip } from "../../ui/tip.tsx";
import { now } from "../../visible.ts";
import { BACKOFF_TEXT } from "../sites/site-status.tsx";

const POLL_MS = 5_000;
/** How many sites are loaded: those with the most waiting URLs. The slowest of them are shown. */
const CANDIDATES = 50;
const SHOWN = 8;

const COLUMNS: readonly Column<SiteOut>[] = [
  { id: "site", title: "Site", rem: 8, grow: 2, cell: ({ site }) => <Scraped text={site} /> },
  {
    id: "waiting",
    title: "Waiting",
    tip: "URLs of all jobs that wait for this site.",
    isNumber: true,
    rem: 4.5,
    grow: 0,
    cell: ({ waiting }) => count(waiting),
  },
  {
    id: "rate",
    title: "Rate",
    tip: "The rate that applies: the strictest rate of the site's jobs and its robots.txt, or the operator's override.",
    isNumber: true,
    rem: 5,
    grow: 0,
    from: "tablet",
    cell: ({ rate }) => rate,
  },
  {
    id: "clear",
    title: "Time to clear",
    tip: "How long the waiting URLs take at this rate if none are added. For a site in backoff: how long the backoff lasts.",
    isNumber: true,
    rem: 8,
    grow: 0,
    cell: (site) => (site.blockedUntil === null ? <TimeToClear site={site} /> : <Backoff until={site.blockedUntil} />),
  },
];

function TimeToClear({ site }: { site: SiteOut }) {
  const ms = msToClear(site);
  if (ms !== undefined) return <>{duration(ms)}</>;
  return (
    <Tip text="The rate is unlimited, so the time depends on the workers and on the site." isUnfocusable>
      {UNKNOWN}
    </Tip>
  );
}

function Backoff({ until }: { until: string }) {
  const at = Date.parse(until);
  return (
    <Tip text={`${BACKOFF_TEXT} It ends at ${absolute(at)}.`} isUnfocusable>
      <Badge tone="bad">backoff {roundedUp(Math.max(0, at - now.value))}</Badge>
    </Tip>
  );
}

/** Shows the sites in backoff first, then those that need the longest time for their waiting URLs. */
export function BusySites() {
  const sites = usePolled(slowestSites, POLL_MS);
  return (
    <Card title="Slowest sites" actions={<a href="#/sites">All sites</a>}>
      <Problem error={sites.error} onRetry={sites.reload} />
      {sites.value === undefined ? (
        sites.error === undefined && <Loading />
      ) : (
        <Table
          label="Slowest sites"
          class="is-short"
          columns={COLUMNS}
          rows={sites.value}
          keyOf={({ site }) => site}
          hrefOf={({ site }) => hrefOf(["sites", site])}
          empty={<Empty title="No URLs are waiting." />}
        />
      )}
    </Card>
  );
}

async function slowestSites(signal: AbortSignal): Promise<SiteOut[]> {
  const sites: SiteOut[] = [];
  for await (const site of api().sites.list({ sort: "waiting", page: CANDIDATES, signal })) {
    if (site.waiting > 0) sites.push(site);
    if (sites.length === CANDIDATES) break;
  }
  const inBackoff = ({ blockedUntil }: SiteOut) => Number(blockedUntil !== null);
  sites.sort((one, other) => inBackoff(other) - inBackoff(one) || (msToClear(other) ?? 0) - (msToClear(one) ?? 0));
  return sites.slice(0, SHOWN);
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** How long the waiting URLs take at a rate such as `6/s` or `1 per 7s`; undefined if the rate is unlimited. */
export function msToClear({ waiting, rate }: { waiting: number; rate: string }): number | undefined {
  const [, requests, periods = "1", unit = ""] = /^([\d.]+)(?:\/| per ([\d.]+))([smhd])$/.exec(rate) ?? [];
  const unitMs = UNIT_MS[unit];
  if (requests === undefined || unitMs === undefined) return undefined;
  return (waiting * Number(periods) * unitMs) / Number(requests);
}
