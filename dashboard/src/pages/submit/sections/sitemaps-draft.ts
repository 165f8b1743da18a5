/** The sitemaps of a job as three form fields: where they come from, their URLs, and `since`. */
import type { JobInput } from "../../../../../src/client/client.ts";

type Sitemaps = JobInput["sitemaps"];

export type SitemapsDraft = {
  /** `robots`: those that the robots.txt of each start URL names. */
  source: "none" | "robots" | "list";
  urls: readonly string[];
  since: string;
};

export function sitemapsDraftOf(sitemaps: Sitemaps): SitemapsDraft {
  if (sitemaps === undefined) return { source: "none", urls: [], since: "" };
  const isDetailed = typeof sitemaps === "object" && !Array.isArray(sitemaps);
  const from = isDetailed ? sitemaps.from : sitemaps;
  const since = isDetailed ? (sitemaps.since ?? "") : "";
  return Array.isArray(from) ? { source: "list", urls: from, since } : { source: "robots", urls: [], since };
}

export function sitemapsIn({ source, urls, since }: SitemapsDraft): Sitemaps {
  if (source === "none") return undefined;
  const from = source === "robots" ? (true as const) : [...urls];
  return since === "" ? from : { from, since };
}
