/**
 * The sites whose pages have no content without a browser, as found by all workers of the broker. Jobs with `render: "auto"`
 * ask for every page, so the broker's answer is cached. Many tasks call it at once.
 */
import type { Frontier } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";

export type ScriptedSites = {
  has(site: string): Promise<boolean>;
  mark(site: string): Promise<void>;
};

type Deps = { frontier: Pick<Frontier, "isScripted" | "markScripted">; clock: Clock };
type Options = {
  /** How long a site stays marked. After that it is fetched without a browser again. */
  memoryMs: number;
  /** How long an answer of the broker is cached. */
  cacheMs: number;
};
type CachedSite = { isScripted: Promise<boolean>; untilAt: number };

const CACHED_MOST = 10_000;

export function createScriptedSites({ frontier, clock }: Deps, { memoryMs, cacheMs }: Options): ScriptedSites {
  const known = new Map<string, CachedSite>();

  function note(site: string, isScripted: Promise<boolean>): Promise<boolean> {
    isScripted.catch(() => known.delete(site)); // a failure is not cached
    if (known.size >= CACHED_MOST) known.clear();
    known.set(site, { isScripted, untilAt: clock.now() + cacheMs });
    return isScripted;
  }

  function has(site: string): Promise<boolean> {
    const found = known.get(site);
    const isFresh = found !== undefined && found.untilAt > clock.now();
    return isFresh ? found.isScripted : note(site, frontier.isScripted(site));
  }

  return {
    has,
    async mark(site) {
      // Every page of the site finds the same: mark it once.
      if (await has(site)) return;
      await note(
        site,
        frontier.markScripted(site, memoryMs).then(() => true),
      );
    },
  };
}
