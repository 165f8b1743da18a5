import { getDomain } from "tldts";

/** What counts as one site: a host, or a registrable domain with all its hosts. */
export type SiteGrouping = "host" | "domain";

/**
 * The politeness key of a canonical URL: requests to URLs of one key share one allowance.
 *
 * By `host` it is the host, with its port unless that is 80 or 443: http and https of a host are one server, and asking
 * it twice as often because it has two doors would not be polite. Any other port is another server.
 *
 * By `domain` it is the registrable domain, whatever the host and port (`shop.a.co.uk:8080` is `a.co.uk`). Hosts that
 * have none (IP addresses, single labels, public suffixes) keep their key by host. Suffixes that a company hands out
 * (`github.io`) are not public ones here: what is behind them is one company's servers.
 */
export function siteOf(canonicalUrl: string, grouping: SiteGrouping): string {
  // A canonical URL starts with "http://" or "https://" and has a path: no need to parse it.
  const start = canonicalUrl.indexOf("//") + 2;
  const end = canonicalUrl.indexOf("/", start);
  const host = withoutUsualPort(canonicalUrl.slice(start, end < 0 ? undefined : end));
  return grouping === "host" ? host : domainOf(host);
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

/** The host is already clean: only the suffix is wanted. */
const DOMAIN_OPTIONS = { extractHostname: false, validateHostname: false, allowPrivateDomains: false };
