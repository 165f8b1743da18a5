/** The status of a site as a badge. */
import type { SiteOut } from "../../../../src/client/wire-types.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { duration, roundedUp } from "../../ui/format.ts";
import { Tip } from "../../ui/tip.tsx";
import { now } from "../../visible.ts";

/** Mentions all causes, because the API does not return which of them applied. */
export const BACKOFF_TEXT =
  "The site responded with 429 or 503, or its robots.txt could not be fetched. No requests are sent until the backoff ends.";

type SiteStatus = { tone: Tone; label: string; tip: string };
type Site = Pick<SiteOut, "blockedUntil" | "readyAt" | "inFlight" | "perSite" | "waiting">;

export function SiteStatusBadge({ site }: { site: Site }) {
  const { tone, label, tip } = siteStatusOf(site, now.value);
  return (
    <Tip text={tip} isUnfocusable>
      <Badge tone={tone}>{label}</Badge>
    </Tip>
  );
}

function siteStatusOf({ blockedUntil, readyAt, inFlight, perSite, waiting }: Site, at: number): SiteStatus {
  const backoffMs = blockedUntil === null ? 0 : Date.parse(blockedUntil) - at;
  if (backoffMs > 0) {
    return { tone: "bad", label: `backoff ${roundedUp(backoffMs)}`, tip: BACKOFF_TEXT };
  }
  if (waiting === 0 && inFlight === 0)
    return { tone: "neutral", label: "idle", tip: "No URLs wait for this site and no requests are in flight." };
  if (waiting === 0)
    return { tone: "good", label: "finishing", tip: "The last requests are in flight. No more URLs wait." };
  if (inFlight >= perSite) {
    const tip = `${inFlight} of ${perSite} allowed requests are in flight. The next request is sent when one of them ends.`;
    return { tone: "busy", label: "at limit", tip };
  }
  const waitMs = readyAt === null ? 0 : Date.parse(readyAt) - at;
  if (waitMs > 0)
    return {
      tone: "busy",
      label: `next in ${duration(waitMs)}`,
      tip: "The rate limit allows the next request at that time.",
    };
  return {
    tone: "good",
    label: "ready",
    tip: "A request can be sent now. If nothing happens, no worker is free or the jobs are paused.",
  };
}
