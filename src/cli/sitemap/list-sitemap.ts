/** The `trawl sitemap` command: fetches sitemaps without a broker, and prints their entries as they are parsed. */
import { loadConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import {
  createRecencyTest,
  MAX_SITEMAP_BYTES,
  readSitemap,
  type SitemapEntry,
} from "../../discover/sitemap/read-sitemap.ts";
import { canonicalUrl } from "../../domain/canonical-url.ts";
import { parseSince } from "../../domain/date-range.ts";
import { originOf, siteOf } from "../../domain/site.ts";
import { robotsUrlOf } from "../../domain/sitemap-task.ts";
import { TrawlError } from "../../errors.ts";
import { systemClock } from "../../runtime/clock.ts";
import { showable } from "../../runtime/showable.ts";
import { badUrl } from "../crawl/targets.ts";
import { type OwnFetching, openOwnFetching } from "../own-fetching.ts";
import { INTERRUPTED, type Shutdown } from "../shutdown.ts";
import { processScreen, type Screen } from "../terminal.ts";

export type SitemapFlags = { since?: string; ignoreRobots?: boolean; userAgent?: string; json?: boolean };

/** Index files below an index are followed up to this many levels, and at most this many files are read. */
const MAX_LEVEL = 3;
const MAX_FILES = 50_000;

type Listing = {
  config: Config;
  fetching: OwnFetching;
  flags: SitemapFlags;
  /** Entries with an older lastmod are left out. */
  since: number | undefined;
  screen: Screen;
  signal: AbortSignal;
};

/** Runs the command. Resolves with the exit code. */
export async function listSitemap(target: string, flags: SitemapFlags, shutdown: Shutdown): Promise<number> {
  const url = canonicalUrl(target);
  if (url === undefined) throw badUrl(target);
  const since = readSince(flags.since);
  const stopping = new AbortController();
  const stopped = shutdown.onStop(() => stopping.abort());
  const config = await loadConfig({ userAgent: flags.userAgent }, process.cwd());
  const fetching = openOwnFetching(config, [new URL(url).hostname]);
  try {
    const listing = { config, fetching, flags, since, screen: processScreen(), signal: stopping.signal };
    return await listAll(listing, url);
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    return INTERRUPTED;
  } finally {
    stopped.remove();
    await fetching.close();
  }
}

function readSince(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const since = parseSince(text, systemClock().now());
  if (since !== undefined) return since;
  const message = `--since takes a date such as 2026-01-31, or a duration such as 7d, not ${JSON.stringify(text)}`;
  throw new TrawlError("BAD_USAGE", { op: "cli.sitemap", message });
}

async function listAll(listing: Listing, url: string): Promise<number> {
  const isSite = url === `${originOf(url)}/`;
  const start = isSite ? await sitemapsOfSite(listing, url) : [url];
  if (typeof start === "string") return failed(listing, url, start);
  const waiting = start.map((file) => ({ file, level: 0 }));
  const known = new Set(start);
  let exitCode = 0;
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { file, level } = next;
    const problem = await listFile(listing, file, (files) => {
      for (const child of files) {
        if (level >= MAX_LEVEL || known.has(child) || known.size >= MAX_FILES) continue;
        known.add(child);
        waiting.push({ file: child, level: level + 1 });
      }
    });
    if (problem !== undefined) exitCode = failed(listing, file, problem);
  }
  return exitCode;
}

function failed({ screen }: Listing, url: string, problem: string): number {
  screen.err(`${showable(`cannot read ${url}: ${problem}`)}\n`);
  return 1;
}

/** The sitemaps that robots.txt names, or the usual one. If robots.txt cannot be read, returns the reason. */
async function sitemapsOfSite({ config, fetching }: Listing, url: string): Promise<string[] | string> {
  const robots = await fetching.robots.rulesAt(url, siteOf(url, config.siteGrouping));
  if (robots.kind === "unreachable") return robots.detail;
  const named = robots.sitemaps.flatMap((text) => canonicalUrl(text, robotsUrlOf(url)) ?? []);
  return named.length > 0 ? [...new Set(named)] : [`${originOf(url)}/sitemap.xml`];
}

/** Prints the pages of a sitemap, or passes the files of an index to `onFiles`. Returns why it cannot be read. */
async function listFile(
  listing: Listing,
  file: string,
  onFiles: (urls: readonly string[]) => void,
): Promise<string | undefined> {
  const fetched = await fetchFile(listing, file);
  if (typeof fetched === "string") return fetched;
  const { since, screen, signal, flags } = listing;
  const isRecent = createRecencyTest(since);
  const end = await readSitemap({
    ...fetched,
    async onEntries(entries, kind) {
      signal.throwIfAborted();
      const recent = entries.filter(isRecent);
      if (kind === "index") onFiles(recent.map(({ url }) => url));
      else if (recent.length > 0) await screen.out(recent.map((entry) => lineOf(entry, file, flags)).join(""));
    },
  });
  return end.kind === "bad" ? end.detail : undefined;
}

function lineOf({ url, lastmod }: SitemapEntry, sitemap: string, { json }: SitemapFlags): string {
  if (json === true) return `${JSON.stringify({ url, lastmod: lastmod ?? null, sitemap })}\n`;
  return lastmod === undefined ? `${url}\n` : `${url}\t${showable(lastmod)}\n`;
}

/** Fetches a file and follows redirects. If the file cannot be fetched, returns the reason. */
async function fetchFile(listing: Listing, start: string): Promise<{ body: Buffer; url: string } | string> {
  const { config, fetching, flags, signal } = listing;
  const { totalMs, idleMs, redirects: maxRedirects } = config;
  const limits = { totalMs, idleMs, bodyBytes: MAX_SITEMAP_BYTES };
  let url = start;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    const site = siteOf(url, config.siteGrouping);
    if (config.robots && flags.ignoreRobots !== true) {
      const rules = await fetching.robots.rulesAt(url, site);
      if (rules.kind === "unreachable") return rules.detail;
      if (!rules.allows(url)) return "robots.txt disallows it; use --ignore-robots to read it anyway";
    }
    const outcome = await fetching.fetcher.fetch({ url, site, limits, headers: {}, signal });
    if (outcome.kind === "page") return { body: outcome.body, url };
    if (outcome.kind === "unchanged") throw new Error(`${url}: unchanged without a conditional request`);
    if (outcome.kind !== "redirect") return outcome.detail ?? outcome.because;
    url = outcome.to;
  }
  return `stopped after ${maxRedirects} redirects; the next one is to ${url}`;
}
