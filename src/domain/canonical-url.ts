/** Longer URLs, as written or in canonical form, are not crawled: most of them are crawler traps. */
export const MAX_URL_LENGTH = 4096;

/**
 * The canonical form of a URL, used for dedup and for the request. Undefined if the URL cannot be requested: not
 * http(s), not parsable, over `MAX_URL_LENGTH`, or with credentials. Never throws. The canonical form of a canonical
 * URL is itself.
 *
 * Only equivalent spellings are unified (RFC 3986, 6.2.2 and 6.2.3): case and punycode of the host, its trailing dot,
 * default port, dot segments, percent-encoding, empty path, empty query, fragment. Parameters are not sorted or
 * dropped, and slashes are not merged, because some sites distinguish such URLs.
 *
 * URLs with credentials are refused. Without the credentials, the URL is another resource; with them, a secret would be
 * stored in queues, logs and records. Most links with credentials are mistyped mail addresses.
 *
 * A `base` that cannot be parsed is ignored. In that case, only absolute URLs have a canonical form.
 */
export function canonicalUrl(raw: string, base?: string): string | undefined {
  if (isEvidentlyCanonical(raw)) return raw.length > MAX_URL_LENGTH ? undefined : raw;
  return resolve(raw, base === undefined ? undefined : (canonicalUrl(base) ?? base));
}

/**
 * `canonicalUrl(href, baseUrl)` for many links of one page, with the same results. It parses the base only once. Most
 * links consist of plain characters and are not parsed at all.
 */
export function createLinkResolver(baseUrl: string): (href: string) => string | undefined {
  const base = canonicalUrl(baseUrl);
  if (base === undefined) return (href) => resolve(href, baseUrl);
  const parts = split(base);
  return (href) => resolvePlain(href, parts) ?? resolve(href, base);
}

/**
 * Normalises percent-encoding, as `canonicalUrl` does. Unreserved characters are decoded, hex digits are in upper case,
 * and characters that a URL cannot contain are encoded as UTF-8. A `%` that starts no escape becomes `%25`. Idempotent.
 */
export function normaliseEscapes(text: string): string {
  return text.replace(ESCAPE_OR_ODD, normaliseEscape);
}

/** Every byte of the text in UTF-8 as `%XX`. */
export function percentEncode(text: string): string {
  let encoded = "";
  for (const byte of utf8.encode(text)) encoded += `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  return encoded;
}

const utf8 = new TextEncoder();

/** An escape, or a character not allowed in a path or query: a single `%`, ASCII that RFC 3986 excludes, non-ASCII. */
const ESCAPE_OR_ODD = /%[0-9A-Fa-f]{2}|["%<>[\\\]^`{|}]|[^\x21-\x7e]+/g;
const UNRESERVED = /^[\w.~-]$/;

/** A path with an optional non-empty query, of characters that parsing does not change (it changes `'`). */
const PLAIN = /^[\w\-.~!$&()*+,;=:@/]*(?:\?[\w\-.~!$&()*+,;=:@/?]+)?$/;
/** A lower-case host name, then a slash. The name ends in letters, so it is no IPv4 address, and no label is empty. */
const PLAIN_ORIGIN = /^https?:\/\/(?:[a-z0-9-]+\.)+[a-z]{2,}\//;
/** A scheme other than http(s). */
const OTHER_SCHEME = /^(?!https?:)[a-z][a-z0-9+.-]*:/i;

function normaliseEscape(found: string): string {
  if (found.length !== 3 || !found.startsWith("%")) return percentEncode(found);
  const char = String.fromCharCode(Number.parseInt(found.slice(1), 16));
  return UNRESERVED.test(char) ? char : found.toUpperCase();
}

/** True only if the canonical form is certainly the same string. False means unknown. */
function isEvidentlyCanonical(url: string): boolean {
  // `xn--` labels are checked by the parser; `/.` may begin a dot segment.
  return PLAIN_ORIGIN.test(url) && PLAIN.test(url) && !url.includes("/.") && !url.includes("xn--");
}

function resolve(raw: string, base: string | undefined): string | undefined {
  if (raw.length > MAX_URL_LENGTH || OTHER_SCHEME.test(raw)) return undefined;
  const url = parse(raw, base);
  return url === undefined ? undefined : canonicalForm(url);
}

function parse(raw: string, base: string | undefined): URL | undefined {
  try {
    return new URL(raw, base);
  } catch {
    // The URL or the base is invalid. An absolute URL needs no base, so it is parsed again without one.
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
  // `search` is empty if the query is empty, so a "?" at the end is dropped.
  const canonical = `${url.protocol}//${host}${port}${path}${normaliseEscapes(url.search)}`;
  return canonical.length > MAX_URL_LENGTH ? undefined : canonical;
}

/**
 * Removes the dot segments that the parser of Node 20 leaves after a segment that starts with a dot, as in
 * `/x/.a/../b`.
 */
function withoutDotSegments(path: string): string {
  if (!/\/\.\.?(?:\/|$)/.test(path)) return path;
  const kept: string[] = [];
  for (const segment of path.slice(1).split("/")) {
    if (segment === "..") kept.pop();
    else if (segment !== ".") kept.push(segment);
  }
  // A dot segment at the end names a folder, so the slash before it stays.
  if (/\/\.\.?$/.test(path)) kept.push("");
  return `/${kept.join("/")}`;
}

/**
 * Removes a trailing dot, so that a host is not counted as two sites. Undefined if a label is empty: the name is
 * invalid.
 */
function canonicalHost(hostname: string): string | undefined {
  const host = hostname.endsWith(".") ? hostname.slice(0, -1) : hostname;
  if (host === "" || host.startsWith(".") || host.endsWith(".") || host.includes("..")) return undefined;
  return host;
}

/** The parts of a canonical URL that links are resolved against. */
type Base = {
  /** The URL with its query and without its fragment. It is the target of an empty link. */
  whole: string;
  /** Scheme, host and port, without the slash. */
  origin: string;
  path: string;
  /** The path up to and including its last slash. */
  folder: string;
};

function split(whole: string): Base {
  const pathStart = whole.indexOf("/", "https://".length);
  const queryStart = whole.indexOf("?", pathStart);
  const path = queryStart < 0 ? whole.slice(pathStart) : whole.slice(pathStart, queryStart);
  return { whole, origin: whole.slice(0, pathStart), path, folder: path.slice(0, path.lastIndexOf("/") + 1) };
}

/** The canonical URL of a link that needs no parsing; undefined if the link must be parsed. */
function resolvePlain(href: string, base: Base): string | undefined {
  if (href.length > MAX_URL_LENGTH) return undefined;
  const hash = href.indexOf("#");
  const link = hash < 0 ? href : href.slice(0, hash);
  if (link === "") return base.whole;
  if (!PLAIN.test(link)) return undefined;
  const resolved = joinPlain(link, base);
  return resolved === undefined || resolved.length > MAX_URL_LENGTH ? undefined : resolved;
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
    // "/a/b/" becomes "/a/", and "/" stays "/": there is always a slash at 0.
    parent = parent.slice(0, parent.lastIndexOf("/", parent.length - 2) + 1);
    start += 3;
  }
  const rest = link.slice(start);
  return rest.startsWith(".") || rest.includes("/.") ? undefined : origin + parent + rest;
}
