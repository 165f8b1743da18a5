/** Decides which entries of a sitemap become tasks. */
import { compileGlobs } from "../../domain/glob.ts";
import type { FollowSpec } from "../../domain/job-spec.ts";
import { siteOf } from "../../domain/site.ts";

type Test = (url: string) => boolean;

export type SitemapScope = {
  /** A test for pages: whether an entry is in the link scope of the job. `home` is the URL that led to the sitemap. */
  pages(home: string): Test;
  /** A test for the files of an index. The patterns of the link scope do not apply to them. */
  files(home: string): Test;
};

/**
 * The scope is that of links from `home` or from the origins of the job's own URLs. A job that follows no links has the
 * scope `site`.
 */
export function createSitemapScope(
  follow: Pick<FollowSpec, "scope" | "include" | "exclude"> | undefined,
  origins: readonly string[],
): SitemapScope {
  const { scope = "site", include = [], exclude = [] } = follow ?? {};
  const isIncluded = include.length === 0 ? () => true : compileGlobs(include);
  const isExcluded = exclude.length === 0 ? () => false : compileGlobs(exclude);
  const grouping = scope === "domain" ? "domain" : "host";
  const ownSites = new Set(origins.map((origin) => siteOf(`${origin}/`, grouping)));

  function files(home: string): Test {
    if (scope === "any") return () => true;
    const homeSite = siteOf(home, grouping);
    return (url) => {
      const site = siteOf(url, grouping);
      return site === homeSite || ownSites.has(site);
    };
  }

  return {
    files,
    pages(home) {
      const isInScope = files(home);
      return (url) => isInScope(url) && isIncluded(url) && !isExcluded(url);
    },
  };
}
