import { getDomain } from "tldts";

/** What counts as one site: a host, or a registrable domain with all its hosts. */
export type SiteGrouping = "host" | "domain";

/**
 * The site of a canonical URL. All URLs of one site share one rate limit.
 *
 * With `host` it is the host, with its port unless that is 80 or 443: http and https of a host are one server and share
 * a rate limit. Any other port is another server.
 *
 * With `domain` it is the registrable domain, whatever the host and port (`shop.a.co.uk:8080` is `a.co.uk`). Hosts
 * without one (IP addresses, single labels, public suffixes) are grouped by host. Private suffixes (`github.io`) do not
 * count as public ones: their servers belong to one company.
 */
export function siteOf(canonicalUrl: string, grouping: SiteGrouping): string {
  // A canonical URL starts with "http://" or "https://" and has a path, so it need not be parsed.
  const start = canonicalUrl.indexOf("//") + 2;
  const end = canonicalUrl.indexOf("/", start);
  const host = withoutUsualPort(canonicalUrl.slice(start, end < 0 ? undefined : end));
  return grouping === "host" ? host : domainOf(host);
}

/** Scheme, host and port of a canonical URL. */
export function originOf(canonicalUrl: string): string {
  const end = canonicalUrl.indexOf("/", canonicalUrl.indexOf("//") + 2);
  return end < 0 ? canonicalUrl : canonicalUrl.slice(0, end);
}

function withoutUsualPort(host: string): string {
  if (host.endsWith(":80")) return host.slice(0, -3);
  return host.endsWith(":443") ? host.slice(0, -4) : host;
}

function domainOf(host: string): string {
  if (host.startsWith("[")) return host;
  const portStart = host.indexOf(":");
  const name = portStart < 0 ? host : host.slice(0, portStart);
  return getDomain(name, DOMAIN_OPTIONS) ?? host;
}

/** The host is already canonical. */
const DOMAIN_OPTIONS = { extractHostname: false, validateHostname: false, allowPrivateDomains: false };
