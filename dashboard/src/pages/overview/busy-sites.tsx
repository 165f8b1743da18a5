import type { SiteOut } from "../../../../src/api/wire-fleet.ts";
import { usePolled } from "../../polled.ts";
import { hrefOf } from "../../router.ts";
import { api } from "../../session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Empty, Loading } from "../../ui/empty.tsx";
import { absolute, count, duration, UNKNOWN } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Scraped } from "../../ui/scraped.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { Tip } from "../../ui/tip.tsx";
import { now } from "../../visible.ts";
import { WHY_IT_RESTS } from "../sites/site-state.tsx";
import { msToClear } from "./ms-to-clear.ts";

const EVERY_MS = 5_000;
const LOOKED_AT = 50;
const SHOWN = 8;

const COLUMNS: readonly Column<SiteOut>[] = [
  { id: "site", title: "Site", rem: 8, grow: 2, cell: ({ site }) => <Scraped text={site} /> },
  {
    id: "waiting",
    title: "Waiting",
    tip: "URLs that wait for the site.",
    isNumber: true,
    rem: 4.5,
    grow: 0,
    cell: ({ waiting }) => count(waiting),
  },
  {
    id: "rate",
    title: "Rate",
    tip: "What the site gets now: the strictest of its jobs and its robots.txt, or an operator's word.",
    isNumber: true,
    rem: 5,
    grow: 0,
    from: "tablet",
    cell: ({ rate }) => rate,
  },
  {
    id: "clear",
    title: "To clear",
    tip: "How long what waits will take at that rate, if nothing is added. What a site that rests has left of its rest comes first.",
    isNumber: true,
    rem: 8,
    grow: 0,
    cell: (site) => (site.blockedUntil === null ? <ToClear site={site} /> : <Rests until={site.blockedUntil} />),
  },
];

function ToClear({ site }: { site: SiteOut }) {
  const ms = msToClear(site);
  if (ms !== undefined) return <>{duration(ms)}</>;
  return (
    <Tip says="Its rate is unlimited: how long it takes is up to the workers and to the site itself." isQuiet>
      {UNKNOWN}
    </Tip>
  );
}

function Rests({ until }: { until: string }) {
  const at = Date.parse(until);
  return (
    <Tip says={`${WHY_IT_RESTS} That is at ${absolute(at)}.`} isQuiet>
      <Badge tone="bad">rests {duration(Math.max(0, at - now.value))}</Badge>
    </Tip>
  );
}

/** Those that rest first, then those that will take longest. */
export function BusySites() {
  const asked = usePolled(longest, EVERY_MS);
  return (
    <Card title="Sites that hold things up" actions={<a href="#/sites">All sites</a>}>
      <Problem error={asked.error} onRetry={asked.reload} />
      {asked.value === undefined ? (
        asked.error === undefined && <Loading />
      ) : (
        <Table
          label="Sites that hold things up"
          class="is-short"
          columns={COLUMNS}
          rows={asked.value}
          keyOf={({ site }) => site}
          hrefOf={({ site }) => hrefOf(["sites", site])}
          empty={<Empty title="Nothing waits for a site." />}
        />
      )}
    </Card>
  );
}

async function longest(signal: AbortSignal): Promise<SiteOut[]> {
  const sites: SiteOut[] = [];
  for await (const site of api().sites.list({ sort: "waiting", page: LOOKED_AT, signal })) {
    if (site.waiting > 0) sites.push(site);
    if (sites.length === LOOKED_AT) break;
  }
  const isResting = ({ blockedUntil }: SiteOut) => Number(blockedUntil !== null);
  sites.sort((one, other) => isResting(other) - isResting(one) || (msToClear(other) ?? 0) - (msToClear(one) ?? 0));
  return sites.slice(0, SHOWN);
}
