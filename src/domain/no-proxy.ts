/** Which requests bypass the proxies of HTTP_PROXY and HTTPS_PROXY, by the rules of NO_PROXY that curl and Go share. */
import type { ProxyEntry } from "./proxy-entry.ts";

/**
 * Whether a URL is requested directly. Always false if the proxies are not from the environment. Requests to this
 * machine never use a proxy of the environment.
 */
export function createDirectRule(entries: readonly ProxyEntry[]): (url: URL) => boolean {
  const environments = entries.flatMap(({ environment }) => (environment === undefined ? [] : [environment]));
  if (environments.length === 0 || environments.length < entries.length) return () => false;
  const patterns = [...new Set(environments.flatMap(({ except }) => except))];
  const schemes = new Set<string>(environments.map(({ scheme }) => scheme));
  return (url) => !schemes.has(url.protocol) || isLoopback(url.hostname) || patterns.some((one) => matches(one, url));
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
}

/** `*`, a host, a domain (`.a.example` or `a.example`), with or without a port. */
function matches(pattern: string, { hostname, port, protocol }: URL): boolean {
  if (pattern === "*") return true;
  const [, host = pattern, ownPort] = /^(.*?)(?::(\d+))?$/.exec(pattern) ?? [];
  if (ownPort !== undefined && ownPort !== (port || (protocol === "https:" ? "443" : "80"))) return false;
  const bare = host.replace(/^\*?\./, "");
  return hostname === bare || hostname.endsWith(`.${bare}`);
}
