/** The contract of robots.txt policies. Workers call it before every page. */

export type RobotsAnswer =
  | {
      kind: "rules";
      /**
       * Applies to URLs of the same host. True for other hosts: their own robots.txt is checked when they are fetched.
       */
      allows(url: string): boolean;
      crawlDelayMs: number;
      sitemaps: readonly string[];
    }
  /** robots.txt could not be fetched, so no page of the host may be fetched yet. */
  | { kind: "unreachable"; detail: string; retryAfterMs: number };

export interface RobotsPolicy {
  /** The rules for a URL of `site`. `fetchFor` is set if the frontier chose this task to fetch robots.txt. */
  rulesAt(url: string, site: string, fetchFor?: { signal: AbortSignal }): Promise<RobotsAnswer>;
  /** Returns a check for URLs of the host of `url`, by the rules that are already known. Sends no request. */
  knownAt(url: string): Promise<(url: string) => boolean>;
}
