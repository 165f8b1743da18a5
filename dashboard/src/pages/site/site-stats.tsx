import type { SiteDetailOut } from "../../../../src/api/wire-sites.ts";
import { count, duration, plural } from "../../ui/format.ts";
import { Stat } from "../../ui/stat.tsx";
import { now } from "../../visible.ts";
import { WHY_IT_RESTS } from "../sites/site-state.tsx";

const SET_BY = {
  operator: "the operator's word",
  robots: "its robots.txt",
  jobs: "its strictest job",
} as const;

const CIRCUITS = {
  closed: { words: "closed", tip: "It answers: requests go as its rate allows." },
  open: { words: "open", tip: WHY_IT_RESTS },
  "half-open": {
    words: "half-open",
    tip: "Its rest is over, and no good answer has come since. The next answer decides: a good one closes the circuit, another 429, 503 or robots.txt that cannot be had makes the next rest longer.",
  },
} as const;

/** More than any policy of a job says: there is no limit. */
const NO_LIMIT = 1_000_000;

export function SiteStats({ site }: { site: SiteDetailOut }) {
  const { rate, burst, perSite, inFlight, waiting, setBy, circuit, incidents } = site;
  const isFull = inFlight >= perSite;
  return (
    <div class="stats">
      <Stat
        label="Rate"
        value={rate}
        tip={`How often it is asked: ${rate}, by ${SET_BY[setBy]}. Up to ${burst} may go at once after a quiet time. Redirects and robots.txt count as well.`}
        more={`by ${SET_BY[setBy]}`}
      />
      <Stat
        label="Next request"
        value={nextOf(site, now.value)}
        tip="When the next request may go, by its rate and its rest; whether a worker is free is another matter."
        more={nextMore(site)}
      />
      <Stat
        label="In flight"
        value={perSite >= NO_LIMIT ? count(inFlight) : `${count(inFlight)} / ${count(perSite)}`}
        tip={`Requests under way now, of ${count(perSite)} allowed at once.`}
        more={isFull ? "at its most" : ""}
      />
      <Stat label="Waiting" value={count(waiting)} tip="URLs that wait for this site, in all jobs, retries included." />
      <Stat
        label="Circuit"
        value={CIRCUITS[circuit].words}
        tip={`${CIRCUITS[circuit].tip}${incidents === 0 ? "" : ` It had to rest ${plural(incidents, "time")} in a row.`}`}
        more={incidents === 0 ? "" : `${plural(incidents, "rest")} in a row`}
        tone={circuit === "open" ? "bad" : circuit === "half-open" ? "warn" : undefined}
      />
    </div>
  );
}

function nextOf({ readyAt, inFlight, perSite }: SiteDetailOut, at: number): string {
  const ms = readyAt === null ? 0 : Date.parse(readyAt) - at;
  if (ms > 0) return duration(ms < 10_000 ? ms : Math.ceil(ms / 1000) * 1000);
  return inFlight >= perSite ? "when one ends" : "now";
}

function nextMore({ isAskingRobots, waiting, blockedUntil }: SiteDetailOut): string {
  if (isAskingRobots) return "after robots.txt";
  if (blockedUntil !== null) return "when its rest is over";
  return waiting === 0 ? "nothing waits" : "";
}
