/** The `sitemaps` of a job, as users write it. */
import { z } from "zod";
import { canonicalUrl } from "../domain/canonical-url.ts";
import { parseSince } from "../domain/date-range.ts";
import type { SitemapSpec } from "../domain/job-spec.ts";

const MAX_SITEMAPS = 1_000;

const sitemapUrl = z
  .string()
  .refine((text) => canonicalUrl(text.trim()) !== undefined, {
    error: (issue) => `takes the absolute http(s) URL of a sitemap or a site, not ${JSON.stringify(issue.input)}`,
  })
  .meta({ examples: ["https://a.example/sitemap.xml"] });
const urls = z.array(sitemapUrl).min(1).max(MAX_SITEMAPS);
const since = z
  .string()
  .refine((text) => parseSince(text, 0) !== undefined, {
    error: (issue) => `takes a date such as 2026-01-31, or a duration such as 7d, not ${JSON.stringify(issue.input)}`,
  })
  .meta({ examples: ["7d", "2026-01-31"] });

/** `true`: the sitemaps that the robots.txt of each start URL names. */
export const sitemapsSchema = z.union(
  [z.literal(true), urls, z.strictObject({ from: z.union([z.literal(true), urls]), since: since.optional() })],
  { error: sitemapsProblem },
);

type SitemapsInput = z.output<typeof sitemapsSchema>;

/** The URLs that the job names; empty if the sitemaps come from robots.txt. */
export function sitemapUrls(sitemaps: SitemapsInput | undefined): readonly string[] {
  const from = typeof sitemaps === "object" && "from" in sitemaps ? sitemaps.from : sitemaps;
  return Array.isArray(from) ? from : [];
}

export function sitemapsFrom(sitemaps: SitemapsInput): SitemapSpec {
  const from = typeof sitemaps === "object" && "from" in sitemaps ? sitemaps.from : sitemaps;
  return {
    fromRobots: from === true,
    since: typeof sitemaps === "object" && "from" in sitemaps ? sitemaps.since : undefined,
  };
}

/** The message for an invalid value. It names the invalid part of a list or an object. */
function sitemapsProblem({ code, input, ...issue }: z.core.$ZodRawIssue): string | undefined {
  if (code !== "invalid_union") return undefined;
  const [, listProblems = [], objectProblems = []] = issue.errors as z.core.$ZodIssue[][];
  if (Array.isArray(input)) return problemText(listProblems);
  if (typeof input === "object" && input !== null) return problemText(objectProblems);
  return 'takes true, a list of URLs, or { "from": true, "since": "7d" }';
}

function problemText(issues: readonly z.core.$ZodIssue[]): string {
  return issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`)).join("; ");
}
