/** The sites that have no rate, as far as this worker knows: their requests need no term. */
import type { Clock } from "../../runtime/clock.ts";

type UnpacedSites = {
  has(site: string): boolean;
  /** A task of a site without a rate has started, or is over. */
  started(site: string): void;
  over(site: string): void;
  /** The broker has no rate for this site. */
  learn(site: string): void;
  /** The site may have a rate now. */
  forget(site: string): void;
};

/** How long an answer of the broker is cached. */
const CACHED_MS = 1_000;

export function createUnpacedSites(clock: Pick<Clock, "now">): UnpacedSites {
  const tasks = new Map<string, number>();
  const cachedUntil = new Map<string, number>();
  return {
    has(site) {
      if (tasks.has(site)) return true;
      const until = cachedUntil.get(site);
      if (until === undefined) return false;
      if (until > clock.now()) return true;
      cachedUntil.delete(site);
      return false;
    },
    started: (site) => void tasks.set(site, (tasks.get(site) ?? 0) + 1),
    over(site) {
      const left = (tasks.get(site) ?? 1) - 1;
      if (left === 0) tasks.delete(site);
      else tasks.set(site, left);
    },
    learn: (site) => void cachedUntil.set(site, clock.now() + CACHED_MS),
    forget(site) {
      tasks.delete(site);
      cachedUntil.delete(site);
    },
  };
}
