/** How a site stands, in a word. */
import type { SiteOut } from "../../../../src/api/wire-fleet.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { duration } from "../../ui/format.ts";
import { Tip } from "../../ui/tip.tsx";
import { now } from "../../visible.ts";

/** Which of the two it was is not kept. */
export const WHY_IT_RESTS =
  "It asked for less (429 or 503), or its robots.txt could not be had: nothing is sent there until its rest is over.";

type Stand = { tone: Tone; words: string; tip: string };
type Site = Pick<SiteOut, "blockedUntil" | "readyAt" | "inFlight" | "perSite" | "waiting">;

export function SiteState({ site }: { site: Site }) {
  const { tone, words, tip } = standOf(site, now.value);
  return (
    <Tip says={tip} isQuiet>
      <Badge tone={tone}>{words}</Badge>
    </Tip>
  );
}

export function standOf({ blockedUntil, readyAt, inFlight, perSite, waiting }: Site, at: number): Stand {
  const restMs = blockedUntil === null ? 0 : Date.parse(blockedUntil) - at;
  if (restMs > 0) {
    return { tone: "bad", words: `rests ${duration(restMs)}`, tip: WHY_IT_RESTS };
  }
  if (waiting === 0 && inFlight === 0)
    return { tone: "quiet", words: "nothing to do", tip: "No URL waits for it, and none is under way." };
  if (waiting === 0)
    return { tone: "good", words: "last ones", tip: "What is under way is all there is: nothing more waits." };
  if (inFlight >= perSite) {
    const tip = `${inFlight} of ${perSite} requests allowed at once are under way: the next goes when one of them ends.`;
    return { tone: "busy", words: "at its most", tip };
  }
  const waitMs = readyAt === null ? 0 : Date.parse(readyAt) - at;
  if (waitMs > 0)
    return {
      tone: "busy",
      words: `next in ${duration(waitMs)}`,
      tip: "Its rate spaces the requests: the next goes then.",
    };
  return {
    tone: "good",
    words: "ready",
    tip: "A request may go now. If nothing happens, no worker is free, or its jobs are paused.",
  };
}
