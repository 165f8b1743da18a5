/**
 * robots.txt by RFC 9309, as Google's open-source matcher reads it, with its tolerance for typing mistakes.
 *
 * On one point the RFC and that matcher differ: whether `/%62` in a rule means `/b` in a URL. Allow rules are taken
 * literally, as the matcher does; Disallow rules in both readings. When in doubt, a page is not fetched.
 */
import { normaliseEscapes, percentEncode } from "./canonical-url.ts";

/** How much of a file is looked at: the least the RFC permits, counted in characters, so never less than that in bytes. */
export const ROBOTS_LENGTH_MOST = 500 * 1024;

/** A robots.txt, read. For what it says to one crawler, see `rulesFor`. */
export type RobotsRules = {
  readonly groups: readonly Group[];
  readonly delays: readonly Delay[];
  readonly sitemaps: readonly string[];
};

/** What a robots.txt says to one crawler. */
export type AgentRules = {
  /** Whether it may fetch this path with its query (`/a?b`), without fragment. */
  allows(pathAndQuery: string): boolean;
  /** Nothing is forbidden, so there is nothing to ask. */
  allowsAll: boolean;
  crawlDelaySeconds: number | undefined;
};

/** Reads any text whatever without throwing; what is not a rule is skipped, and an HTML page has no rules. */
export function parseRobots(text: string): RobotsRules {
  const reader = createReader();
  if (!HTML_PAGE.test(text.slice(0, HTML_SNIFF_LENGTH))) {
    for (const line of linesOf(text)) {
      const pair = keyAndValue(line);
      if (pair !== undefined) reader.take(pair.key, pair.value);
    }
  }
  return reader.rules;
}

/**
 * Picks the rules for one crawler, once, for many URLs. `productToken` is the crawler's bare name; case and a version
 * after a slash do not matter. Groups that name it are merged, and only if there is none, those for `*` are.
 */
export function rulesFor(rules: RobotsRules, productToken: string): AgentRules {
  const agent = addressedAs(rules, productToken);
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

/** The name looked for in robots.txt: the first word of the user agent, without its version. */
export function productToken(userAgent: string): string {
  return /^[A-Za-z_-]+/.exec(userAgent)?.[0] ?? "trawl";
}

/** Whether a crawler may fetch a URL. For more than one URL, `rulesFor` is cheaper. */
export function isAllowed(rules: RobotsRules, productToken: string, url: string): boolean {
  return rulesFor(rules, productToken).allows(pathAndQueryOf(url));
}

/** The wait between requests that is asked of a crawler; the longest, where several are. */
export function crawlDelaySeconds(rules: RobotsRules, productToken: string): number | undefined {
  return rulesFor(rules, productToken).crawlDelaySeconds;
}

/** The sitemaps it names, as written, in order, each once. They hold for every crawler. */
export function sitemapsOf(rules: RobotsRules): string[] {
  return [...new Set(rules.sitemaps)];
}

/** The path and query of an absolute URL as it is spelled, without fragment: what rules are compared with. */
export function pathAndQueryOf(url: string): string {
  // Canonical URLs, which every link of every page is asked about, are cut at their third slash.
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

const EVERYONE = "*";

/** Pages start with a tag; a file of rules might start with a stray one, but not go on as a page. */
const HTML_PAGE = /^[\s\uFEFF]*<(?:.*<)?(?:!doctype\s+html|html|head|body)\b/is;
const HTML_SNIFF_LENGTH = 2048;

/** Longer lines are cut, as in Google's parser: eight times the longest URL that browsers took. */
const LINE_LENGTH_MOST = 2083 * 8;

/** Beginnings of keys, with the misspellings that are common enough for Google to take them. */
const KEYS = {
  agent: /^user[- ]?agent/i,
  allow: /^allow/i,
  disallow: /^(?:diss?allow|diss?alow|diasllow|disallaw)/i,
  delay: /^crawl[- ]?delay/i,
  sitemap: /^site-?map/i,
} as const;

function linesOf(text: string): string[] {
  const start = text.startsWith("\uFEFF") ? 1 : 0;
  const lines = text.slice(start, start + ROBOTS_LENGTH_MOST).split(/\r\n|\r|\n/);
  // A rule cut in two would say something else than was written: more, for a path that is shorter.
  if (text.length > start + ROBOTS_LENGTH_MOST) lines.pop();
  return lines;
}

function keyAndValue(line: string): { key: string; value: string } | undefined {
  const [content = ""] = line.slice(0, LINE_LENGTH_MOST).split("#", 1);
  const colon = content.indexOf(":");
  if (colon >= 0) return { key: content.slice(0, colon).trim(), value: content.slice(colon + 1).trim() };
  // The colon is often forgotten; then there must be just two words.
  const [key, value, ...more] = content.trim().split(/[ \t]+/);
  return key === undefined || value === undefined || more.length > 0 ? undefined : { key, value };
}

/**
 * Agents named in a row share the rules that follow. Lines of other kinds do not end such a row (the RFC: they must not
 * interfere), so a delay, which does end it for other delays, keeps a row of its own.
 */
function createReader(): { rules: RobotsRules; take(key: string, value: string): void } {
  const groups: Group[] = [];
  const delays: Delay[] = [];
  const sitemaps: string[] = [];
  let group: Group | undefined;
  let delayAgents = new Set<string>();
  let isDelayRowOpen = false;

  function takeAgent(value: string): void {
    if (group === undefined || group.rules.length > 0) {
      group = { agents: new Set(), rules: [] };
      groups.push(group);
    }
    if (!isDelayRowOpen) delayAgents = new Set();
    isDelayRowOpen = true;
    for (const name of agentNames(value)) {
      group.agents.add(name);
      delayAgents.add(name);
    }
  }

  function takeRule(isAllow: boolean, path: string): void {
    // Rules before any agent are addressed to nobody.
    group?.rules.push({ isAllow, path });
    isDelayRowOpen = false;
  }

  function takeDelay(value: string): void {
    const seconds = Number(/^(?:\d+(?:[.,]\d+)?|\.\d+)/.exec(value)?.[0].replace(",", "."));
    if (Number.isFinite(seconds)) delays.push({ agents: delayAgents, seconds });
    isDelayRowOpen = false;
  }

  function take(key: string, value: string): void {
    if (KEYS.agent.test(key)) takeAgent(value);
    else if (KEYS.allow.test(key)) takeRule(true, value);
    else if (KEYS.disallow.test(key)) takeRule(false, value);
    else if (KEYS.delay.test(key)) takeDelay(value);
    else if (KEYS.sitemap.test(key) && value !== "") sitemaps.push(value);
  }

  return { rules: { groups, delays, sitemaps }, take };
}

/** `FooBot/1.0` names foobot. Google takes letters, `-` and `_` only; a name with digits in it is meant whole, too. */
function agentNames(value: string): string[] {
  if (/^\*(?:\s|$)/.test(value)) return [EVERYONE];
  const names = [/^[a-z_-]*/i, /^[^\s/]*/].map((prefix) => prefix.exec(value)?.[0].toLowerCase() ?? "");
  return names.filter((name) => name !== "" && name !== EVERYONE);
}

function addressedAs(rules: RobotsRules, productToken: string): string {
  const [name = ""] = productToken.toLowerCase().split("/", 1);
  return rules.groups.some((group) => group.agents.has(name)) ? name : EVERYONE;
}

type Pattern = { head: string; middle: readonly string[]; tail: string | undefined; isAnchored: boolean };
type Test = {
  isAllow: boolean;
  strength: number;
  pattern: Pattern;
  /** "odd paths": needed only for paths that are not in normal form, because another test covers those that are. */
  reads: "as written" | "normal form" | "odd paths";
};

function testsOf({ isAllow, path }: Rule): Test[] {
  const literal = path.replace(/%[0-9a-f]{2}|[^\0-\x7f]+/gi, (found) =>
    found.startsWith("%") ? found.toUpperCase() : percentEncode(found),
  );
  // A rule without a path says nothing.
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

/** In normal form `*` and `$` are always escaped, so that `%2A` in a rule means a star in the URL. */
function encodeSpecials(text: string): string {
  return text.replace(/[*$]/g, percentEncode);
}

function patternTest(text: string, isAllow: boolean, reads: Test["reads"]): Test {
  const isAnchored = text.endsWith("$");
  const [head = "", ...middle] = (isAnchored ? text.slice(0, -1) : text).split("*");
  const tail = middle.pop();
  return { isAllow, strength: text.length, pattern: { head, middle, tail, isAnchored }, reads };
}

/** The longest rule decides, and of two as long the one that allows. */
function strongestFirst(a: Test, b: Test): number {
  return b.strength - a.strength || Number(b.isAllow) - Number(a.isAllow);
}

/** No backtracking: as a star takes anything, the first place where the next piece fits is as good as any later. */
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
