/**
 * Globs that choose URLs, for `include` and `exclude`. They are compared with canonical URLs, as a whole:
 *
 * - `*` any characters but `/` and `?`; in the query, which has no segments, any characters at all
 * - `**` any characters at all; as a segment of its own (`/a/**` + `/b`) also none, so that `/a/b` matches
 * - `{a,b}` either, may be nested; everything else means itself, `?` too, because URLs contain it
 *
 * Where a glob begins decides what it is compared with:
 *
 * - `https://a.example/x/*`, or anything else with `://`: the URL from its start
 * - `/catalogue/**`: the path, on any host
 * - `**` first: the URL from its start, so anything may come before the rest
 * - `?page=*`: any URL's query
 * - anything else (`*.pdf`, `a.example/x/**`): from any `/` on, as if it began with `**` + `/`
 *
 * A glob that does not mention `?` does not care about the query: `/x/*` takes `/x/y` and `/x/y?page=2`.
 */
import { canonicalUrl, normaliseEscapes } from "./canonical-url.ts";

/** How many globs one with `{…}` may stand for. */
export const GLOB_ALTERNATIVES_MOST = 256;

/** As long as the longest URL: a longer glob could match only by its alternatives. */
export const GLOB_LENGTH_MOST = 4096;

/**
 * True for canonical URLs that match one of the globs; with no globs, for none. Never throws: a glob that has a
 * `globProblem` matches nothing. The time for a URL grows at most with its length times that of the globs.
 */
export function compileGlobs(globs: readonly string[]): (url: string) => boolean {
  const matchers = globs
    .filter((glob) => globProblem(glob) === undefined)
    .flatMap((glob) => expand(glob) ?? [])
    .map(compile);
  return (url) => matchers.some((matcher) => matches(matcher, url));
}

/** What is wrong with a glob, in words that can follow it (`"{a" has …`); undefined if nothing is. */
export function globProblem(glob: string): string | undefined {
  if (glob.trim() === "") return "is empty";
  if (glob.length > GLOB_LENGTH_MOST) return `is longer than ${GLOB_LENGTH_MOST} characters`;
  if (glob.startsWith("!")) return 'starts with "!", which does not negate here: put the glob into the other list';
  if (glob.includes("#")) return 'has a "#": URLs are compared without their fragment';
  if (glob.includes("\\")) return 'has a "\\": nothing is escaped here, every character but * { } means itself';
  if (/[[\]]/.test(glob))
    return "has [ or ], which do not choose characters here: use {a,b}; for themselves, %5B and %5D";
  if (!hasPairedBraces(glob)) return 'has a "{" or "}" without its partner';
  const alternatives = expand(glob);
  if (alternatives === undefined) return `stands for more than ${GLOB_ALTERNATIVES_MOST} globs`;
  const scheme = alternatives.map(schemeOf).find((name) => name !== undefined && !/^https?$/i.test(name));
  return scheme === undefined ? undefined : `asks for ${scheme} URLs: only http and https are crawled`;
}

/** A literal, or a wildcard: `any` is `**`, `segment` is `*`, `folders` is `**` + `/` where a segment may begin. */
type Token = { literal: string } | "any" | "segment" | "folders";
type Matcher = { tokens: readonly Token[]; isForPath: boolean; isForQuery: boolean };

function hasPairedBraces(glob: string): boolean {
  let depth = 0;
  for (const char of glob) {
    if (char === "{") depth += 1;
    if (char === "}") depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** The globs without braces that one stands for; undefined if they are too many. */
function expand(glob: string): string[] | undefined {
  const plain = new Set<string>();
  const braced = [glob.trim()];
  for (let next = braced.pop(); next !== undefined; next = braced.pop()) {
    const innermost = /\{([^{}]*)\}/.exec(next);
    if (innermost === null) plain.add(next);
    else {
      const before = next.slice(0, innermost.index);
      const after = next.slice(innermost.index + innermost[0].length);
      for (const choice of innermost[1]?.split(",") ?? []) braced.push(before + choice + after);
    }
    if (plain.size + braced.length > GLOB_ALTERNATIVES_MOST) return undefined;
  }
  return [...plain];
}

function schemeOf(glob: string): string | undefined {
  return /^([a-z][a-z0-9+.-]*):\/\//i.exec(glob)?.[1];
}

function compile(glob: string): Matcher {
  const anchored = anchor(glob);
  return { tokens: tokensOf(anchored), isForPath: anchored.startsWith("/"), isForQuery: anchored.includes("?") };
}

function anchor(glob: string): string {
  if (/^[^/?]*:\/\//.test(glob)) return withCanonicalOrigin(glob);
  if (glob.startsWith("/") || glob.startsWith("**")) return glob;
  return glob.startsWith("?") ? `**${glob}` : `**/${glob}`;
}

/** Hosts are typed in capitals, with umlauts and with default ports; canonical URLs have none of these. */
function withCanonicalOrigin(glob: string): string {
  const typed = /^[^/?]*:\/\/[^/?]*/.exec(glob)?.[0] ?? "";
  const rest = glob.slice(typed.length);
  const root = typed.includes("*") ? undefined : canonicalUrl(typed);
  if (root === undefined) return typed.toLowerCase() + rest;
  return rest.startsWith("/") ? root + rest.slice(1) : root + rest;
}

function tokensOf(glob: string): Token[] {
  const tokens: Token[] = [];
  let isInQuery = false;
  for (const part of glob.split(/((?<=^|\/)\*\*\/|\*+)/)) {
    if (part === "") continue;
    if (part === "**/") tokens.push("folders");
    else if (part.startsWith("*")) tokens.push(part === "*" && !isInQuery ? "segment" : "any");
    else {
      tokens.push({ literal: normaliseEscapes(part) });
      isInQuery ||= part.includes("?");
    }
  }
  return tokens;
}

function matches({ tokens, isForPath, isForQuery }: Matcher, url: string): boolean {
  const text = isForPath ? url.slice(url.indexOf("/", "https://".length)) : url;
  // All places, ascending, that the tokens so far can end at: keeping them all is what makes backtracking needless.
  let ends = [0];
  let isOpen = false; // after "any": every place from the first end on is one
  for (const token of tokens) {
    const [first] = ends;
    if (first === undefined) return false;
    if (token === "any") isOpen = true;
    else if (token === "segment") ends = endsOfSegment(text, ends);
    else if (token === "folders") ends = endsOfFolders(text, first);
    else {
      ends = isOpen ? endsAfter(text, token.literal, first) : endsAt(text, token.literal, ends);
      isOpen = false;
    }
  }
  if (isOpen) return ends.length > 0;
  return ends.at(-1) === text.length || (!isForQuery && ends.includes(text.indexOf("?")));
}

function endsAt(text: string, literal: string, starts: readonly number[]): number[] {
  return starts.filter((start) => text.startsWith(literal, start)).map((start) => start + literal.length);
}

function endsAfter(text: string, literal: string, from: number): number[] {
  const ends: number[] = [];
  for (let at = text.indexOf(literal, from); at >= 0; at = text.indexOf(literal, at + 1))
    ends.push(at + literal.length);
  return ends;
}

function endsOfSegment(text: string, starts: readonly number[]): number[] {
  const ends: number[] = [];
  for (const start of starts) {
    // Within a segment that an earlier start has run through, there is nothing new.
    if (start <= (ends.at(-1) ?? -1)) continue;
    let at = start;
    while (at < text.length && text[at] !== "/" && text[at] !== "?") ends.push(at++);
    ends.push(at);
  }
  return ends;
}

/** None, or all up to a slash. Every other start is the place after a slash as well, so the first says it all. */
function endsOfFolders(text: string, first: number): number[] {
  return [first, ...endsAfter(text, "/", first)];
}
