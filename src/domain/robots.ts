/**
 * Parses and matches robots.txt according to RFC 9309, in the way of Google's open-source matcher. Like it, the parser
 * tolerates typing mistakes.
 *
 * The RFC and Google's matcher differ on whether `/%62` in a rule matches `/b` in a URL. Here, Allow rules are matched
 * literally, as in Google's matcher. Disallow rules match both forms: in doubt, a page is not fetched.
 */
import { normaliseEscapes, percentEncode } from "./canonical-url.ts";

/** How many characters of a file are read. The RFC requires this many bytes, and a character has at least one byte. */
export const MAX_ROBOTS_LENGTH = 500 * 1024;

/** A parsed robots.txt. `rulesFor` returns the rules for one crawler. */
type RobotsRules = {
  readonly groups: readonly Group[];
  readonly delays: readonly Delay[];
  readonly sitemaps: readonly string[];
};

/** The rules of a robots.txt for one crawler. */
type AgentRules = {
  /** Whether the crawler may fetch this path with query (`/a?b`), without fragment. */
  allows(pathAndQuery: string): boolean;
  /** True if nothing is disallowed; then `allows` need not be called. */
  allowsAll: boolean;
  crawlDelaySeconds: number | undefined;
};

/** Parses any text without throwing. Lines that are not rules are skipped. An HTML page has no rules. */
export function parseRobots(text: string): RobotsRules {
  const reader = createReader();
  if (!HTML_PAGE.test(text.slice(0, HTML_SNIFF_LENGTH))) {
    for (const line of linesOf(text)) {
      const pair = keyAndValue(line);
      if (pair !== undefined) reader.add(pair.key, pair.value);
    }
  }
  return reader.rules;
}

/**
 * Selects the rules for one crawler, to be used for many URLs. `productToken` is the name of the crawler; case and a
 * version after a slash are ignored. All groups that name the crawler are merged. If there are none, the groups for `*`
 * apply.
 */
export function rulesFor(rules: RobotsRules, productToken: string): AgentRules {
  const agent = agentIn(rules, productToken);
  const rulesOfAgent = rules.groups.filter((group) => group.agents.has(agent)).flatMap((group) => group.rules);
  const tests = rulesOfAgent.flatMap(testsOf).sort(strongestFirst);
  const usualTests = tests.filter((test) => test.reads !== "odd paths");

  function allows(pathAndQuery: string): boolean {
    if (pathAndQuery === "/robots.txt") return true;
    const normalPath = encodeSpecials(normaliseEscapes(pathAndQuery));
    const candidates = normalPath === pathAndQuery ? usualTests : tests;
    for (const { pattern, reads, isAllow } of candidates) {
      if (matchesPattern(pattern, reads === "as written" ? pathAndQuery : normalPath)) return isAllow;
    }
    return true;
  }

  const delays = rules.delays.filter((delay) => delay.agents.has(agent)).map((delay) => delay.seconds);
  const allowsAll = tests.every((test) => test.isAllow);
  return { allows, allowsAll, crawlDelaySeconds: delays.length === 0 ? undefined : Math.max(...delays) };
}

/** The name of the crawler in robots.txt: the first word of the user agent, without its version. */
export function productToken(userAgent: string): string {
  return /^[A-Za-z_-]+/.exec(userAgent)?.[0] ?? "trawl";
}

/** Whether a crawler may fetch a URL. For more than one URL, `rulesFor` is cheaper. */
export function isAllowed(rules: RobotsRules, productToken: string, url: string): boolean {
  return rulesFor(rules, productToken).allows(pathAndQueryOf(url));
}

/** The crawl-delay for a crawler; the longest if there are several. */
export function crawlDelaySeconds(rules: RobotsRules, productToken: string): number | undefined {
  return rulesFor(rules, productToken).crawlDelaySeconds;
}

/** The sitemaps of a robots.txt, as written, in order, each once. They apply to every crawler. */
export function sitemapsOf(rules: RobotsRules): string[] {
  return [...new Set(rules.sitemaps)];
}

/** The path and query of an absolute URL as spelled, without fragment. Rules are compared with this. */
export function pathAndQueryOf(url: string): string {
  // Fast path for canonical URLs, since every link of every page is checked: cut at the third slash.
  const pathStart = url.startsWith("http") ? url.indexOf("/", 8) : -1;
  if (pathStart > 0 && !/[#?;]/.test(url)) return url.slice(pathStart);
  const [bare = ""] = url.split("#", 1);
  const hostStart = /^[a-z][a-z0-9+.-]*:\/\//i.exec(bare)?.[0].length ?? 0;
  const hostLength = bare.slice(hostStart).search(/[/?;]/);
  if (hostLength < 0) return "/";
  const path = bare.slice(hostStart + hostLength);
  return path.startsWith("/") ? path : `/${path}`;
}

type Rule = { isAllow: boolean /** As written. */; path: string };
type Group = { agents: Set<string>; rules: Rule[] };
type Delay = { agents: ReadonlySet<string>; seconds: number };

const ANY_AGENT = "*";

/** HTML pages start with a tag and contain one of these. A robots.txt may start with a tag, but has none of these. */
const HTML_PAGE = /^[\s\uFEFF]*<(?:.*<)?(?:!doctype\s+html|html|head|body)\b/is;
const HTML_SNIFF_LENGTH = 2048;

/** Longer lines are cut, as in Google's parser. The limit is eight times the longest URL that old browsers accepted. */
const MAX_LINE_LENGTH = 2083 * 8;

/** Prefixes of keys, with the common misspellings that Google accepts. */
const KEYS = {
  agent: /^user[- ]?agent/i,
  allow: /^allow/i,
  disallow: /^(?:diss?allow|diss?alow|diasllow|disallaw)/i,
  delay: /^crawl[- ]?delay/i,
  sitemap: /^site-?map/i,
} as const;

function linesOf(text: string): string[] {
  const start = text.startsWith("\uFEFF") ? 1 : 0;
  const lines = text.slice(start, start + MAX_ROBOTS_LENGTH).split(/\r\n|\r|\n/);
  // A rule that is cut off has a shorter path and would match more URLs than the site intended.
  if (text.length > start + MAX_ROBOTS_LENGTH) lines.pop();
  return lines;
}

function keyAndValue(line: string): { key: string; value: string } | undefined {
  const [content = ""] = line.slice(0, MAX_LINE_LENGTH).split("#", 1);
  const colon = content.indexOf(":");
  if (colon >= 0) return { key: content.slice(0, colon).trim(), value: content.slice(colon + 1).trim() };
  // The colon is often missing. Such a line must have exactly two words.
  const [key, value, ...more] = content.trim().split(/[ \t]+/);
  return key === undefined || value === undefined || more.length > 0 ? undefined : { key, value };
}

/**
 * Collects the groups of a file. Consecutive user agents form a group and share the rules that follow. Lines of other
 * kinds do not end a group (RFC: they must not interfere). A crawl-delay ends the group only for later delays, so the
 * groups of delays are tracked separately.
 */
function createReader(): { rules: RobotsRules; add(key: string, value: string): void } {
  const groups: Group[] = [];
  const delays: Delay[] = [];
  const sitemaps: string[] = [];
  let group: Group | undefined;
  let delayAgents = new Set<string>();
  let isDelayGroupOpen = false;

  function addAgent(value: string): void {
    if (group === undefined || group.rules.length > 0) {
      group = { agents: new Set(), rules: [] };
      groups.push(group);
    }
    if (!isDelayGroupOpen) delayAgents = new Set();
    isDelayGroupOpen = true;
    for (const name of agentNames(value)) {
      group.agents.add(name);
      delayAgents.add(name);
    }
  }

  function addRule(isAllow: boolean, path: string): void {
    // Rules before any user agent apply to no crawler.
    group?.rules.push({ isAllow, path });
    isDelayGroupOpen = false;
  }

  function addDelay(value: string): void {
    const seconds = Number(/^(?:\d+(?:[.,]\d+)?|\.\d+)/.exec(value)?.[0].replace(",", "."));
    if (Number.isFinite(seconds)) delays.push({ agents: delayAgents, seconds });
    isDelayGroupOpen = false;
  }

  function add(key: string, value: string): void {
    if (KEYS.agent.test(key)) addAgent(value);
    else if (KEYS.allow.test(key)) addRule(true, value);
    else if (KEYS.disallow.test(key)) addRule(false, value);
    else if (KEYS.delay.test(key)) addDelay(value);
    else if (KEYS.sitemap.test(key) && value !== "") sitemaps.push(value);
  }

  return { rules: { groups, delays, sitemaps }, add };
}

/**
 * The crawlers that a user agent line names. `FooBot/1.0` names foobot. Google accepts only letters, `-` and `_`; a
 * name with digits is also compared as a whole.
 */
function agentNames(value: string): string[] {
  if (/^\*(?:\s|$)/.test(value)) return [ANY_AGENT];
  const names = [/^[a-z_-]*/i, /^[^\s/]*/].map((prefix) => prefix.exec(value)?.[0].toLowerCase() ?? "");
  return names.filter((name) => name !== "" && name !== ANY_AGENT);
}

function agentIn(rules: RobotsRules, productToken: string): string {
  const [name = ""] = productToken.toLowerCase().split("/", 1);
  return rules.groups.some((group) => group.agents.has(name)) ? name : ANY_AGENT;
}

type Pattern = { head: string; middle: readonly string[]; tail: string | undefined; isAnchored: boolean };
type Test = {
  isAllow: boolean;
  strength: number;
  pattern: Pattern;
  /**
   * `odd paths`: this test is needed only for paths that are not in normal form. Another test covers the other paths.
   */
  reads: "as written" | "normal form" | "odd paths";
};

function testsOf({ isAllow, path }: Rule): Test[] {
  const literal = path.replace(/%[0-9a-f]{2}|[^\0-\x7f]+/gi, (found) =>
    found.startsWith("%") ? found.toUpperCase() : percentEncode(found),
  );
  // A rule without a path has no effect.
  if (literal === "") return [];
  const asWritten = patternTest(literal, isAllow, "as written");
  if (!isAllow) return [asWritten, normalTest(path, literal)];
  // As in Google's matcher, allowing a folder's index page allows the folder.
  const folder = /^(.*\/)index\.htm[^/]*$/s.exec(literal)?.[1];
  return folder === undefined ? [asWritten] : [asWritten, patternTest(`${folder}$`, true, "as written")];
}

function normalTest(path: string, literal: string): Test {
  const isAnchored = path.endsWith("$");
  const pieces = (isAnchored ? path.slice(0, -1) : path).split("*");
  const normal = pieces.map((piece) => encodeSpecials(normaliseEscapes(piece))).join("*") + (isAnchored ? "$" : "");
  return patternTest(normal, false, normal === literal ? "odd paths" : "normal form");
}

/** Escapes `*` and `$`. In normal form they are always escaped, so that `%2A` in a rule matches a star in the URL. */
function encodeSpecials(text: string): string {
  return text.replace(/[*$]/g, percentEncode);
}

function patternTest(text: string, isAllow: boolean, reads: Test["reads"]): Test {
  const isAnchored = text.endsWith("$");
  const [head = "", ...middle] = (isAnchored ? text.slice(0, -1) : text).split("*");
  const tail = middle.pop();
  return { isAllow, strength: text.length, pattern: { head, middle, tail, isAnchored }, reads };
}

/** Sorts rules: the longest matching rule decides, and Allow wins if two have the same length. */
function strongestFirst(a: Test, b: Test): number {
  return b.strength - a.strength || Number(b.isAllow) - Number(a.isAllow);
}

/**
 * Whether a pattern matches a path. It needs no backtracking: since a star matches anything, the first position where
 * the next piece fits is as good as any later one.
 */
function matchesPattern({ head, middle, tail, isAnchored }: Pattern, path: string): boolean {
  if (!path.startsWith(head)) return false;
  let end = head.length;
  if (tail === undefined) return !isAnchored || end === path.length;
  for (const piece of middle) {
    const found = path.indexOf(piece, end);
    if (found < 0) return false;
    end = found + piece.length;
  }
  return isAnchored ? path.length - tail.length >= end && path.endsWith(tail) : path.includes(tail, end);
}
