/**
 * What robots.txt allows, by RFC 9309. Called by workers before every page, by many tasks at once.
 *
 * robots.txt belongs to a host and port, and is kept under that key even where politeness counts by domain; http and
 * https of a host share it, as they share their allowance. Each process remembers parsed rules; the frontier keeps the
 * text for all of them and says who fetches it when nobody has it. A crash while fetching leaves nothing behind: the
 * frontier asks another task.
 */
import { canonicalUrl } from "../domain/canonical-url.ts";
import type { Slot } from "../domain/politeness.ts";
import { parseRobots, pathAndQueryOf, rulesFor, sitemapsOf } from "../domain/robots.ts";
import { type SiteGrouping, siteOf } from "../domain/site.ts";
import type { Frontier, RobotsFile } from "../frontier/frontier.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Allowance, FetchLimits } from "./fetcher.ts";
import type { HttpAnswer, HttpClient } from "./http/http-client.ts";
import { retryAfterMs } from "./http/retry-after.ts";
import type { TransportFailure } from "./http/transport-error.ts";
import type { RobotsAnswer, RobotsPolicy } from "./robots.ts";
import { createRulesCache } from "./rules-cache.ts";

export type RobotsPolicyDeps = {
  fetcher: Pick<HttpClient, "ask">;
  frontier: Pick<Frontier, "findRobots" | "keepRobots">;
  allowance: Allowance;
  clock: Clock;
};

export type RobotsPolicyOptions = {
  /** The name by which robots.txt files address this crawler, without version. */
  productToken: string;
  /** What a site is to the frontier. */
  grouping: SiteGrouping;
  /** How long a robots.txt, or the lack of one, holds. */
  freshMs: number;
  /** After how long one that could not be had is asked for again. */
  unreachableMs: number;
  /** Longer crawl-delays are cut to this. */
  maxCrawlDelayMs: number;
  /** How many are followed, to any site. */
  maxRedirects: number;
  /** `bodyBytes` is how much of a longer file is read. */
  limits: FetchLimits;
};

const CACHED_SITES_MOST = 10_000;
/** Characters of robots.txt, whose parsed rules take a small multiple of that. */
const CACHED_LENGTH_MOST = 50_000_000;
/** What a short file weighs, all in. */
const ENTRY_WEIGHT = 500;
/** An old copy speaks for a site whose robots.txt has become unreachable, but not for ever. */
const STALE_MOST_MS = 30 * 24 * 3_600_000;

/** The `text` of an unreachable one says why nothing came. */
type Fetched = Pick<RobotsFile, "kind" | "text"> & { waitMs?: number };
type Known = { file: RobotsFile; rules: Extract<RobotsAnswer, { kind: "rules" }> | undefined };

export function createRobotsPolicy(deps: RobotsPolicyDeps, options: RobotsPolicyOptions): RobotsPolicy {
  const { fetcher, frontier, allowance, clock } = deps;
  const { productToken, grouping, freshMs, unreachableMs, maxCrawlDelayMs, maxRedirects, limits } = options;
  const cache = createRulesCache<Known>({ entriesMost: CACHED_SITES_MOST, weightMost: CACHED_LENGTH_MOST });
  const underWay = new Map<string, Promise<Known>>();

  /** By domain, the site's own entry only tells the frontier that it has been asked: it is not that of any host. */
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

  /** One request at a time for one host, whoever asks. */
  async function refresh(url: string, site: string, slot: Slot | undefined, signal: AbortSignal): Promise<Known> {
    const host = siteOf(url, "host");
    for (let running = underWay.get(host); running !== undefined; running = underWay.get(host)) {
      // It fails when the task that fetches is aborted, which is no reason for this one to fail.
      const known = await running.catch(() => undefined);
      if (known !== undefined) return known;
      signal.throwIfAborted();
    }
    const fetching = fetchAndKeep(url, site, slot, signal).finally(() => underWay.delete(host));
    underWay.set(host, fetching);
    return fetching;
  }

  async function fetchAndKeep(url: string, site: string, slot: Slot | undefined, signal: AbortSignal): Promise<Known> {
    const host = siteOf(url, "host");
    const previous = cache.find(host)?.file;
    const fetched = await fetchRobots(
      `${new URL(url).origin}/robots.txt`,
      slot ?? (await allowance.spend(site)),
      signal,
    );
    const known = remember(host, fileFrom(fetched, previous, clock.now()));
    const delayMs = known.rules?.crawlDelayMs ?? 0;
    await frontier.keepRobots(keyOf(host), known.file, delayMs);
    if (keyOf(host) !== site) await frontier.keepRobots(site, { ...known.file, text: "" }, delayMs);
    return known;
  }

  async function fetchRobots(start: string, firstSlot: Slot, signal: AbortSignal): Promise<Fetched> {
    let [url, slot] = [start, firstSlot];
    for (let redirects = 0; ; redirects++) {
      const site = siteOf(url, grouping);
      const answer = await fetcher.ask({ url, site, slot, limits, overflow: "cut", headers: {}, signal });
      const next = redirectTarget(answer, url);
      if (next === undefined) return readAnswer(answer, clock.now());
      // A file behind more redirects than anyone follows is as good as none.
      if (redirects === maxRedirects) return ABSENT;
      url = next;
      slot = await allowance.spend(siteOf(url, grouping));
    }
  }

  function fileFrom({ waitMs, ...fetched }: Fetched, previous: RobotsFile | undefined, now: number): RobotsFile {
    if (fetched.kind !== "unreachable") return { ...fetched, fetchedAt: now, freshUntil: now + freshMs };
    const freshUntil = now + Math.max(unreachableMs, waitMs ?? 0);
    const mayStandIn =
      previous !== undefined && previous.kind !== "unreachable" && previous.fetchedAt > now - STALE_MOST_MS;
    return mayStandIn ? { ...previous, freshUntil } : { ...fetched, fetchedAt: now, freshUntil };
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
    const detail = `robots.txt could not be had: ${file.text}`;
    return { kind: "unreachable", detail, retryAfterMs: Math.max(0, file.freshUntil - clock.now()) };
  }

  /**
   * The frontier sees to the age of what it keeps by site: unless it has told us to ask, an old copy will do. By domain it
   * does not know the hosts, and when it tells us to ask it waits to hear that the site has been asked.
   */
  function willDo({ freshUntil }: RobotsFile, isTold: boolean): boolean {
    const isFresh = freshUntil > clock.now();
    return grouping === "host" ? isFresh || !isTold : isFresh && !isTold;
  }

  return {
    async rulesAt(url, site, ask) {
      const host = siteOf(url, "host");
      const isTold = ask !== undefined;
      const cached = cache.find(host);
      if (cached !== undefined && !isTold && cached.file.freshUntil > clock.now()) return answerFrom(cached);
      const known = (await find(host)) ?? cached;
      if (known !== undefined && willDo(known.file, isTold)) return answerFrom(known);
      return answerFrom(await refresh(url, site, ask?.slot, ask?.signal ?? NEVER));
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
  // The gate refuses the page as well, and says so better.
  if (answer.kind === "dead" && answer.because === "egress_refused") return ABSENT;
  if (answer.kind !== "answer") return { kind: "unreachable", text: answer.detail };
  const { status, headers, body, isCut } = answer;
  if (status >= 200 && status <= 299) {
    const text = body.toString("utf8");
    // Half a rule would say something else than was written.
    return { kind: "file", text: isCut ? text.slice(0, text.search(/[^\r\n]*$/)) : text };
  }
  if (status !== 429 && status < 500) return ABSENT;
  const waitMs = retryAfterMs(headers["retry-after"], now);
  return { kind: "unreachable", text: `answered ${status}`, ...(waitMs === undefined ? {} : { waitMs }) };
}
