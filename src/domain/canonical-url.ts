/** URLs longer than this, as written or in canonical form, are not crawled: they are traps far more often than pages. */
export const URL_LENGTH_MOST = 4096;

/**
 * The one spelling of a URL, both for dedup and as the URL that is requested, or undefined where there is nothing to
 * request: not http(s), not parsable, over `URL_LENGTH_MOST`, or with credentials. Never throws, and the canonical form
 * of a canonical URL is itself.
 *
 * Only spellings that mean the same are folded (RFC 3986, 6.2.2 and 6.2.3): case and punycode of the host, its trailing
 * dot, default port, dot segments, percent-encoding, empty path, empty query, fragment. Parameters are neither sorted nor
 * dropped and slashes not merged, because some sites answer differently.
 *
 * URLs with credentials are refused rather than stripped: without them it is another resource, and with them a secret
 * would end up in queues, logs and records. Most in links are mistyped mail addresses anyway.
 *
 * A `base` that cannot be parsed counts as none: only absolute URLs resolve then.
 */
export function canonicalUrl(raw: string, base?: string): string | undefined {
  if (isEvidentlyCanonical(raw)) return raw.length > URL_LENGTH_MOST ? undefined : raw;
  return resolve(raw, base === undefined ? undefined : (canonicalUrl(base) ?? base));
}

/**
 * `canonicalUrl(href, baseUrl)` for many links of one page: the same answers, with the base parsed once and no URL parsed
 * at all for links that are plainly spelled, which nearly all are.
 */
export function createLinkResolver(baseUrl: string): (href: string) => string | undefined {
  const base = canonicalUrl(baseUrl);
  if (base === undefined) return (href) => resolve(href, baseUrl);
  const parts = split(base);
  return (href) => resolvePlain(href, parts) ?? resolve(href, base);
}

/**
 * Percent-encoding in the one form `canonicalUrl` uses: unreserved characters plain, hex digits upper case, everything a
 * URL cannot hold encoded as UTF-8, a `%` that starts no escape as `%25`. Idempotent.
 */
export function normaliseEscapes(text: string): string {
  return text.replace(ESCAPE_OR_ODD, normaliseEscape);
}

/** Every byte of the text's UTF-8 form as `%XX`. */
export function percentEncode(text: string): string {
  let encoded = "";
  for (const byte of utf8.encode(text)) encoded += `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  return encoded;
}

const utf8 = new TextEncoder();

/** An escape, or what may not stand in a path or query: a lone `%`, the ASCII that RFC 3986 leaves out, all else. */
const ESCAPE_OR_ODD = /%[0-9A-Fa-f]{2}|["%<>[\\\]^`{|}]|[^\x21-\x7e]+/g;
const UNRESERVED = /^[\w.~-]$/;

/** A path, with or without a query that is not empty, of characters that no step of parsing touches (`'` is one it does). */
const PLAIN = /^[\w\-.~!$&()*+,;=:@/]*(?:\?[\w\-.~!$&()*+,;=:@/?]+)?$/;
/** A lower-case name ending in letters, so neither an IPv4 address nor an empty label; then a path. */
const PLAIN_ORIGIN = /^https?:\/\/(?:[a-z0-9-]+\.)+[a-z]{2,}\//;
/** Any scheme but ours: such a URL can never be http(s), whatever follows. */
const OTHER_SCHEME = /^(?!https?:)[a-z][a-z0-9+.-]*:/i;

function normaliseEscape(found: string): string {
  if (found.length !== 3 || !found.startsWith("%")) return percentEncode(found);
  const char = String.fromCharCode(Number.parseInt(found.slice(1), 16));
  return UNRESERVED.test(char) ? char : found.toUpperCase();
}

/** True only if parsing would give back the same string. False says nothing. */
function isEvidentlyCanonical(url: string): boolean {
  // `xn--` labels are checked by the parser; `/.` may begin a dot segment.
  return PLAIN_ORIGIN.test(url) && PLAIN.test(url) && !url.includes("/.") && !url.includes("xn--");
}

function resolve(raw: string, base: string | undefined): string | undefined {
  if (raw.length > URL_LENGTH_MOST || OTHER_SCHEME.test(raw)) return undefined;
  const url = parse(raw, base);
  return url === undefined ? undefined : canonicalForm(url);
}

function parse(raw: string, base: string | undefined): URL | undefined {
  try {
    return new URL(raw, base);
  } catch {
    // Thrown for a bad URL and for a bad base alike; an absolute URL does not need its base.
    return base === undefined ? undefined : parse(raw, undefined);
  }
}

function canonicalForm(url: URL): string | undefined {
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  if (url.username !== "" || url.password !== "") return undefined;
  const host = canonicalHost(url.hostname);
  if (host === undefined) return undefined;
  const port = url.port === "" ? "" : `:${url.port}`;
  const path = withoutDotSegments(normaliseEscapes(url.pathname));
  // `search` is empty for a lone "?", which drops it.
  const canonical = `${url.protocol}//${host}${port}${path}${normaliseEscapes(url.search)}`;
  return canonical.length > URL_LENGTH_MOST ? undefined : canonical;
}

/** The parser of Node 20 leaves dot segments behind a segment that only starts with a dot: `/x/.a/../b` stays as it is. */
function withoutDotSegments(path: string): string {
  if (!/\/\.\.?(?:\/|$)/.test(path)) return path;
  const kept: string[] = [];
  for (const segment of path.slice(1).split("/")) {
    if (segment === "..") kept.pop();
    else if (segment !== ".") kept.push(segment);
  }
  // One at the end names a folder, so the slash before it stays.
  if (/\/\.\.?$/.test(path)) kept.push("");
  return `/${kept.join("/")}`;
}

/** Without the dot of an absolute name, so that a site is not two sites; undefined for empty labels, which no name has. */
function canonicalHost(hostname: string): string | undefined {
  const host = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  if (host === "" || host.startsWith(".") || host.endsWith(".") || host.includes("..")) return undefined;
  return host;
}

/** A canonical URL in the pieces that links are resolved against. */
type Base = {
  /** Without its fragment and with its query: what an empty link leads to. */
  whole: string;
  /** Scheme, host and port, without the slash. */
  origin: string;
  path: string;
  /** The path up to and with its last slash. */
  folder: string;
};

function split(whole: string): Base {
  const pathStart = whole.indexOf("/", "https://".length);
  const queryStart = whole.indexOf("?", pathStart);
  const path = queryStart < 0 ? whole.slice(pathStart) : whole.slice(pathStart, queryStart);
  return { whole, origin: whole.slice(0, pathStart), path, folder: path.slice(0, path.lastIndexOf("/") + 1) };
}

/** The canonical URL of a link that needs no parsing; undefined says only that this one does. */
function resolvePlain(href: string, base: Base): string | undefined {
  if (href.length > URL_LENGTH_MOST) return undefined;
  const hash = href.indexOf("#");
  const link = hash < 0 ? href : href.slice(0, hash);
  if (link === "") return base.whole;
  if (!PLAIN.test(link)) return undefined;
  const resolved = joinPlain(link, base);
  return resolved === undefined || resolved.length > URL_LENGTH_MOST ? undefined : resolved;
}

function joinPlain(link: string, base: Base): string | undefined {
  if (link.startsWith("?")) return base.origin + base.path + link;
  if (link.startsWith("/")) return link.startsWith("//") || link.includes("/.") ? undefined : base.origin + link;
  if (link.includes(":")) return isPlainAbsolute(link, base) ? link : undefined;
  return joinRelative(link, base);
}

function isPlainAbsolute(link: string, { origin }: Base): boolean {
  if (link.startsWith(origin) && link.charAt(origin.length) === "/") return !link.includes("/.", origin.length);
  return isEvidentlyCanonical(link);
}

function joinRelative(link: string, { origin, folder }: Base): string | undefined {
  let parent = folder;
  let start = 0;
  while (link.startsWith("../", start)) {
    // Of "/a/b/" this leaves "/a/", of "/" itself "/": there is always a slash at 0.
    parent = parent.slice(0, parent.lastIndexOf("/", parent.length - 2) + 1);
    start += 3;
  }
  const rest = link.slice(start);
  return rest.startsWith(".") || rest.includes("/.") ? undefined : origin + parent + rest;
}
