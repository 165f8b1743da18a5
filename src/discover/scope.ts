/** Which links of a page become tasks. */
import { compileGlobs } from "../domain/glob.ts";
import { siteOf } from "../domain/site.ts";
import type { FollowSpec } from "../submit/job-spec.ts";

export type Scope = {
  /** A judge of links found on one page: whether they may be followed. All URLs are canonical. */
  from(pageUrl: string): (url: string) => boolean;
  /** Whether links of a page at this depth are followed at all. */
  goesDeeperThan(depth: number): boolean;
};

export function createScope({ scope, include, exclude, maxDepth }: FollowSpec): Scope {
  const isIncluded = include.length === 0 ? () => true : compileGlobs(include);
  const isExcluded = exclude.length === 0 ? () => false : compileGlobs(exclude);
  return {
    from(pageUrl) {
      const isNear = nearness(scope, pageUrl);
      return (url) => isNear(url) && isIncluded(url) && !isExcluded(url);
    },
    goesDeeperThan: (depth) => maxDepth === undefined || depth < maxDepth,
  };
}

function nearness(scope: FollowSpec["scope"], pageUrl: string): (url: string) => boolean {
  if (scope === "any") return () => true;
  const grouping = scope === "site" ? "host" : "domain";
  const home = siteOf(pageUrl, grouping);
  // Nearly every link that stays near has the page's own origin, which is cheaper to see than a site to work out.
  const origin = pageUrl.slice(0, pageUrl.indexOf("/", 8) + 1);
  return (url) => url.startsWith(origin) || siteOf(url, grouping) === home;
}
