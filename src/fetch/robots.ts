/** The contract of robots.txt: what workers ask before every page. */
import type { Slot } from "../domain/politeness.ts";

export type RobotsAnswer =
  | {
      kind: "rules";
      /** About URLs on the same host; true for others, whose own robots.txt is asked when their turn comes. */
      allows(url: string): boolean;
      crawlDelayMs: number;
      sitemaps: readonly string[];
    }
  /** Nothing may be fetched yet. */
  | { kind: "unreachable"; detail: string; retryAfterMs: number };

export interface RobotsPolicy {
  /** The rules for a URL of `site`. `ask` is given with the task that the frontier told to fetch robots.txt first. */
  rulesAt(url: string, site: string, ask?: { slot: Slot; signal: AbortSignal }): Promise<RobotsAnswer>;
  /** Whether rules that somebody has fetched already allow URLs of the host of `url`: asks no site for anything. */
  knownAt(url: string): Promise<(url: string) => boolean>;
}
