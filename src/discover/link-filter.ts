/** Decides which links of a page become tasks. */
import { compileGlobs } from "../domain/glob.ts";
import type { FollowSpec } from "../domain/job-spec.ts";
import { siteOf } from "../domain/site.ts";

export type LinkFilter = {
  /** Returns a test for the links of one page: whether a link may be followed. All URLs are canonical. */
  from(pageUrl: string): (url: string) => boolean;
  /** Whether links of a page at this depth are followed at all. */
  goesDeeperThan(depth: number): boolean;
};

export function createLinkFilter({ scope, include, exclude, maxDepth }: FollowSpec): LinkFilter {
  const isIncluded = include.length === 0 ? () => true : compileGlobs(include);
  const isExcluded = exclude.length === 0 ? () => false : compileGlobs(exclude);
  return {
    from(pageUrl) {
      const isInScope = scopeTest(scope, pageUrl);
      return (url) => isInScope(url) && isIncluded(url) && !isExcluded(url);
    },
    goesDeeperThan: (depth) => maxDepth === undefined || depth < maxDepth,
  };
}

function scopeTest(scope: FollowSpec["scope"], pageUrl: string): (url: string) => boolean {
  if (scope === "any") return () => true;
  const grouping = scope === "site" ? "host" : "domain";
  const pageSite = siteOf(pageUrl, grouping);
  // Most links in scope share the page's origin, and comparing that is cheaper than computing a site.
  const origin = pageUrl.slice(0, pageUrl.indexOf("/", 8) + 1);
  return (url) => url.startsWith(origin) || siteOf(url, grouping) === pageSite;
}
