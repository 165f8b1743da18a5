import type { SiteDetailOut } from "../../../../src/client/wire-types.ts";
import { count, duration } from "../../ui/format.ts";
import { Stat } from "../../ui/stat.tsx";
import { now } from "../../visible.ts";
import { BACKOFF_TEXT } from "../sites/site-status.tsx";

const SET_BY = {
  operator: "the operator",
  robots: "robots.txt",
  jobs: "the strictest job",
} as const;

const CIRCUITS = {
  closed: { label: "closed", tip: "The site responds. Requests are sent at its rate." },
  open: { label: "open", tip: BACKOFF_TEXT },
  "half-open": {
    label: "half-open",
    tip: "The backoff is over, but there was no successful response yet. The site gets one request at a time. A success closes the circuit. Another 429, 503 or robots.txt failure starts a longer backoff.",
  },
} as const;

/** A limit that no job can set. It means unlimited. */
const NO_LIMIT = 1_000_000;

export function SiteStats({ site }: { site: SiteDetailOut }) {
  const { rate, rateShare, rules, burst, perSite, inFlight, waiting, setBy, circuit, incidents } = site;
  const isFull = inFlight >= perSite;
  return (
    <div class="stats">
      <Stat
        label="Rate"
        value={rateShare < 1 ? `${Math.round(rateShare * 100)}% of ${rate}` : rate}
        tip={`The rate that applies: ${rate}, set by ${SET_BY[setBy]}. After a pause, up to ${burst} requests may be sent at once. Redirects and requests for robots.txt count too.`}
        more={rules[0] ?? `set by ${SET_BY[setBy]}`}
        tone={rateShare < 1 ? "warn" : undefined}
      />
      <Stat
        label="Next request"
        value={nextText(site, now.value)}
        tip="When the rate and the backoff allow the next request. The request also needs a free worker."
        more={nextReason(site)}
      />
      <Stat
        label="In flight"
        value={perSite >= NO_LIMIT ? count(inFlight) : `${count(inFlight)} / ${count(perSite)}`}
        tip={`Requests in flight, out of at most ${count(perSite)}.`}
        more={isFull ? "at the limit" : ""}
      />
      <Stat label="Waiting" value={count(waiting)} tip="URLs of all jobs that wait for this site, including retries." />
      <Stat
        label="Circuit"
        value={CIRCUITS[circuit].label}
        tip={`${CIRCUITS[circuit].tip}${incidents > 1 ? ` ${count(incidents)} backoffs in a row.` : ""}`}
        more={incidents > 1 ? `${count(incidents)} backoffs in a row` : ""}
        tone={circuit === "open" ? "bad" : circuit === "half-open" ? "warn" : undefined}
      />
    </div>
  );
}

function nextText({ readyAt, inFlight, perSite }: SiteDetailOut, at: number): string {
  const ms = readyAt === null ? 0 : Date.parse(readyAt) - at;
  if (ms > 0) return duration(ms < 10_000 ? ms : Math.ceil(ms / 1000) * 1000);
  return inFlight >= perSite ? "waiting" : "now";
}

function nextReason({ isFetchingRobots, waiting, blockedUntil, inFlight, perSite }: SiteDetailOut): string {
  if (isFetchingRobots) return "fetching robots.txt";
  if (blockedUntil !== null) return "after the backoff";
  if (waiting === 0) return "no URLs waiting";
  return inFlight >= perSite ? "at the limit" : "";
}
