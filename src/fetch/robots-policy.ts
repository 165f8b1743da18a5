/**
 * The robots.txt policy according to RFC 9309. Workers call it before every page, for many tasks at once.
 *
 * robots.txt belongs to a host and port. It is stored under that key even if politeness is by domain. http and https of
 * a host share it, as they share their rate. Each process caches parsed rules. The frontier stores the text for all
 * processes and chooses the task that fetches it. A crash while fetching leaves nothing behind: the frontier chooses
 * another task.
 */
import { canonicalUrl } from "../domain/canonical-url.ts";
import { parseRobots, pathAndQueryOf, rulesFor, sitemapsOf } from "../domain/robots.ts";
import { type SiteGrouping, siteOf } from "../domain/site.ts";
import type { Frontier, RobotsFile } from "../frontier/frontier.ts";
import type { Clock } from "../runtime/clock.ts";
import type { FetchLimits } from "./fetcher.ts";
import type { HttpAnswer, HttpClient } from "./http/http-client.ts";
import { retryAfterMs } from "./http/retry-after.ts";
import type { TransportFailure } from "./http/transport-error.ts";
import type { RobotsAnswer, RobotsPolicy } from "./robots.ts";
import { createRulesCache } from "./rules-cache.ts";

type RobotsPolicyDeps = {
  fetcher: Pick<HttpClient, "send">;
  frontier: Pick<Frontier, "findRobots" | "keepRobots">;
  clock: Clock;
};

export type RobotsPolicyOptions = {
  /** The name by which robots.txt files address this crawler, without version. */
  productToken: string;
  /** How the frontier groups hosts into sites. */
  grouping: SiteGrouping;
  /** How long a robots.txt, or its absence, is cached. */
  freshMs: number;
  /** Delay before an unreachable robots.txt is fetched again. */
  unreachableMs: number;
  /** The maximum crawl-delay. Longer ones are reduced to it. */
  maxCrawlDelayMs: number;
  /** Maximum number of redirects, to any site. */
  maxRedirects: number;
  /** A file that is longer than `bodyBytes` is truncated. */
  limits: FetchLimits;
};

const MAX_CACHED_SITES = 10_000;
/** Total characters of cached robots.txt files. Their parsed rules take a small multiple of that. */
const MAX_CACHED_LENGTH = 50_000_000;
/** Added to the length of each cached file, for overhead. */
const ENTRY_WEIGHT = 500;
/** How long an old copy is used while the robots.txt of a site is unreachable. */
const MAX_STALE_MS = 30 * 24 * 3_600_000;

/** The `text` of an unreachable file is the reason. */
type Fetched = Pick<RobotsFile, "kind" | "text"> & { waitMs?: number };
type Known = { file: RobotsFile; rules: Extract<RobotsAnswer, { kind: "rules" }> | undefined };

export function createRobotsPolicy(deps: RobotsPolicyDeps, options: RobotsPolicyOptions): RobotsPolicy {
  const { fetcher, frontier, clock } = deps;
  const { productToken, grouping, freshMs, unreachableMs, maxCrawlDelayMs, maxRedirects, limits } = options;
  const cache = createRulesCache<Known>({ maxEntries: MAX_CACHED_SITES, maxWeight: MAX_CACHED_LENGTH });
  const underWay = new Map<string, Promise<Known>>();

  /**
   * The key under which the frontier stores the robots.txt of a host. If sites are domains, the entry of a site only
   * records that robots.txt was fetched, and hosts have separate entries.
   */
  const keyOf = (host: string): string => (grouping === "host" ? host : `host:${host}`);

  function remember(host: string, file: RobotsFile): Known {
    const known = { file, rules: file.kind === "unreachable" ? undefined : rulesFrom(host, file) };
    cache.keep(host, known, ENTRY_WEIGHT + file.text.length);
    return known;
  }

  async function find(host: string): Promise<Known | undefined> {
    const file = await frontier.findRobots(keyOf(host));
    return file === undefined ? undefined : remember(host, file);
  }

  /** Fetches robots.txt, with one request at a time for each host. */
  async function refresh(url: string, site: string, signal: AbortSignal): Promise<Known> {
    const host = siteOf(url, "host");
    for (let running = underWay.get(host); running !== undefined; running = underWay.get(host)) {
      // `running` fails if the task that fetches is aborted. This task must not fail because of that.
      const known = await running.catch(() => undefined);
      if (known !== undefined) return known;
      signal.throwIfAborted();
    }
    const fetching = fetchAndKeep(url, site, signal).finally(() => underWay.delete(host));
    underWay.set(host, fetching);
    return fetching;
  }

  async function fetchAndKeep(url: string, site: string, signal: AbortSignal): Promise<Known> {
    const host = siteOf(url, "host");
    const previous = cache.find(host)?.file;
    const fetched = await fetchRobots(`${new URL(url).origin}/robots.txt`, site, signal);
    const known = remember(host, fileFrom(fetched, previous, clock.now()));
    const delayMs = known.rules?.crawlDelayMs ?? 0;
    await frontier.keepRobots(keyOf(host), known.file, delayMs);
    if (keyOf(host) !== site) await frontier.keepRobots(site, { ...known.file, text: "" }, delayMs);
    return known;
  }

  async function fetchRobots(start: string, startSite: string, signal: AbortSignal): Promise<Fetched> {
    let [url, site] = [start, startSite];
    for (let redirects = 0; ; redirects++) {
      const answer = await fetcher.send({ url, site, limits, overflow: "cut", headers: {}, signal });
      const next = redirectTarget(answer, url);
      if (next === undefined) return readAnswer(answer, clock.now());
      // A file behind too many redirects counts as absent.
      if (redirects === maxRedirects) return ABSENT;
      url = next;
      site = siteOf(url, grouping);
    }
  }

  function fileFrom({ waitMs, ...fetched }: Fetched, previous: RobotsFile | undefined, now: number): RobotsFile {
    if (fetched.kind !== "unreachable") return { ...fetched, fetchedAt: now, freshUntil: now + freshMs };
    const freshUntil = now + Math.max(unreachableMs, waitMs ?? 0);
    const isCopyUsable =
      previous !== undefined && previous.kind !== "unreachable" && previous.fetchedAt > now - MAX_STALE_MS;
    return isCopyUsable ? { ...previous, freshUntil } : { ...fetched, fetchedAt: now, freshUntil };
  }

  function rulesFrom(host: string, { kind, text }: RobotsFile): Known["rules"] {
    const file = parseRobots(kind === "absent" ? "" : text);
    const rules = rulesFor(file, productToken);
    return {
      kind: "rules",
      allows: rules.allowsAll ? () => true : (url) => siteOf(url, "host") !== host || rules.allows(pathAndQueryOf(url)),
      crawlDelayMs: Math.min((rules.crawlDelaySeconds ?? 0) * 1000, maxCrawlDelayMs),
      sitemaps: sitemapsOf(file),
    };
  }

  function answerFrom({ file, rules }: Known): RobotsAnswer {
    if (rules !== undefined) return rules;
    const detail = `robots.txt could not be fetched: ${file.text}`;
    return { kind: "unreachable", detail, retryAfterMs: Math.max(0, file.freshUntil - clock.now()) };
  }

  /**
   * Whether a stored copy may be used. If sites are hosts, the frontier decides when a copy is too old: an old copy is
   * valid until the frontier requests a fetch. If sites are domains, the frontier does not know the hosts, so an old
   * copy is not valid. When the frontier requests a fetch, it waits until the site is recorded as fetched, so even a
   * fresh copy is not enough.
   */
  function isUsable({ freshUntil }: RobotsFile, mustFetch: boolean): boolean {
    const isFresh = freshUntil > clock.now();
    return grouping === "host" ? isFresh || !mustFetch : isFresh && !mustFetch;
  }

  return {
    async rulesAt(url, site, fetchFor) {
      const host = siteOf(url, "host");
      const mustFetch = fetchFor !== undefined;
      const cached = cache.find(host);
      if (cached !== undefined && !mustFetch && cached.file.freshUntil > clock.now()) return answerFrom(cached);
      const known = (await find(host)) ?? cached;
      if (known !== undefined && isUsable(known.file, mustFetch)) return answerFrom(known);
      return answerFrom(await refresh(url, site, fetchFor?.signal ?? NEVER));
    },
    async knownAt(url) {
      const host = siteOf(url, "host");
      const known = cache.find(host) ?? (await find(host));
      return known?.rules?.allows ?? (() => true);
    },
  };
}

const ABSENT: Fetched = { kind: "absent", text: "" };

const NEVER = new AbortController().signal;

function redirectTarget(answer: HttpAnswer | TransportFailure, url: string): string | undefined {
  if (answer.kind !== "answer" || answer.status < 300 || answer.status > 399) return undefined;
  const { location } = answer.headers;
  return location === undefined ? undefined : canonicalUrl(location, url);
}

function readAnswer(answer: HttpAnswer | TransportFailure, now: number): Fetched {
  // The egress gate also refuses the page, with a better message.
  if (answer.kind === "dead" && answer.because === "egress_refused") return ABSENT;
  if (answer.kind !== "answer") return { kind: "unreachable", text: answer.detail };
  const { status, headers, body, isCut } = answer;
  if (status >= 200 && status <= 299) {
    const text = body.toString("utf8");
    // A truncated last rule would have another meaning.
    return { kind: "file", text: isCut ? text.slice(0, text.search(/[^\r\n]*$/)) : text };
  }
  if (status !== 429 && status < 500) return ABSENT;
  const waitMs = retryAfterMs(headers["retry-after"], now);
  return { kind: "unreachable", text: `answered ${status}`, ...(waitMs === undefined ? {} : { waitMs }) };
}
