/**
 * Which sites show nothing without a browser, as all workers of the broker have found. Asked for every page of a job that
 * renders where needed, so what the broker says is believed for a while; called by many tasks at once.
 */
import type { Frontier } from "../frontier/frontier.ts";
import type { Clock } from "../runtime/clock.ts";

export type ScriptedSites = {
  has(site: string): Promise<boolean>;
  mark(site: string): Promise<void>;
};

type Deps = { frontier: Pick<Frontier, "isScripted" | "markScripted">; clock: Clock };
type Options = {
  /** How long a site is thought of so before it is tried without a browser again. */
  memoryMs: number;
  /** How long what the broker said is believed. */
  believeMs: number;
};
type Known = { isScripted: Promise<boolean>; untilAt: number };

const KNOWN_MOST = 10_000;

export function createScriptedSites({ frontier, clock }: Deps, { memoryMs, believeMs }: Options): ScriptedSites {
  const known = new Map<string, Known>();

  function note(site: string, isScripted: Promise<boolean>): Promise<boolean> {
    isScripted.catch(() => known.delete(site)); // a failure is not remembered
    if (known.size >= KNOWN_MOST) known.clear();
    known.set(site, { isScripted, untilAt: clock.now() + believeMs });
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
      // Every page of it says the same.
      if (await has(site)) return;
      await note(
        site,
        frontier.markScripted(site, memoryMs).then(() => true),
      );
    },
  };
}
