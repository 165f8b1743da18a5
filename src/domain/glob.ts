/**
 * Globs for URLs, used by `include` and `exclude`. A glob must match the whole canonical URL:
 *
 * - `*` matches any characters except `/` and `?`; in the query it matches any characters
 * - `**` matches any characters; as a whole segment it may also match no segment: `/a/**` + `/b` matches `/a/b`
 * - `{a,b}` matches `a` or `b`, and may be nested
 * - all other characters match themselves, including `?`, because URLs contain it
 *
 * The start of a glob decides what it is compared with:
 *
 * - `https://a.example/x/*`, or anything else with `://`: the URL from its start
 * - `/catalogue/**`: the path, on any host
 * - `**` at the start: the URL from its start, so anything may precede the rest
 * - `?page=*`: the query of any URL
 * - anything else (`*.pdf`, `a.example/x/**`): from any `/`, as if it began with `**` + `/`
 *
 * A glob without `?` ignores the query: `/x/*` matches `/x/y` and `/x/y?page=2`.
 */
import { canonicalUrl, normaliseEscapes } from "./canonical-url.ts";

/** The maximum number of globs that one glob with `{…}` may expand to. */
export const MAX_GLOB_ALTERNATIVES = 256;

/** The same as the maximum length of a URL. A longer glob could match a URL only if `{…}` expands to shorter globs. */
export const MAX_GLOB_LENGTH = 4096;

/**
 * A test for canonical URLs: true if one of the globs matches. Without globs, nothing matches. Never throws: a glob
 * with a `globProblem` matches nothing. A test takes time at most proportional to the length of the URL times the total
 * length of the globs.
 */
export function compileGlobs(globs: readonly string[]): (url: string) => boolean {
  const matchers = globs
    .filter((glob) => globProblem(glob) === undefined)
    .flatMap((glob) => expand(glob) ?? [])
    .map(compile);
  return (url) => matchers.some((matcher) => matches(matcher, url));
}

/** What is wrong with a glob, as the predicate of a sentence (`"{a" has …`); undefined if it is valid. */
export function globProblem(glob: string): string | undefined {
  if (glob.trim() === "") return "is empty";
  if (glob.length > MAX_GLOB_LENGTH) return `is longer than ${MAX_GLOB_LENGTH} characters`;
  if (glob.startsWith("!")) return 'starts with "!", but globs cannot be negated: use include or exclude instead';
  if (glob.includes("#")) return 'has a "#": URLs are compared without their fragment';
  if (glob.includes("\\"))
    return 'has a "\\", which is not an escape character: every character except * { } matches itself';
  if (/[[\]]/.test(glob))
    return "has [ or ], which do not form character classes: use {a,b}; to match a bracket, use %5B or %5D";
  if (!hasPairedBraces(glob)) return 'has an unpaired "{" or "}"';
  const alternatives = expand(glob);
  if (alternatives === undefined) return `expands to more than ${MAX_GLOB_ALTERNATIVES} globs`;
  const scheme = alternatives.map(schemeOf).find((name) => name !== undefined && !/^https?$/i.test(name));
  return scheme === undefined ? undefined : `matches ${scheme} URLs: only http and https URLs are crawled`;
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

/** Expands the braces of a glob; undefined if that makes too many globs. */
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
    if (plain.size + braced.length > MAX_GLOB_ALTERNATIVES) return undefined;
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

/**
 * Converts the origin of a glob to the form of canonical URLs. Users type hosts in capitals, with umlauts and with
 * default ports.
 */
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
  // All positions where the tokens so far can end, ascending. No backtracking is needed, because all are tracked.
  let ends = [0];
  let isOpen = false; // true after "any": then every position from the first end on is possible
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
    // An earlier start has already covered this segment.
    if (start <= (ends.at(-1) ?? -1)) continue;
    let at = start;
    while (at < text.length && text[at] !== "/" && text[at] !== "?") ends.push(at++);
    ends.push(at);
  }
  return ends;
}

/**
 * `**` + `/` matches nothing, or any text that ends with a slash. All starts after the first one also follow a slash,
 * so a search from the first start finds them too.
 */
function endsOfFolders(text: string, first: number): number[] {
  return [first, ...endsAfter(text, "/", first)];
}
