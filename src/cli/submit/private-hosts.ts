/** Detects URLs on private networks. Workers fetch them only with TRAWL_ALLOW_PRIVATE. */
import { isPublicAddress, isWithin, type Network, parseAddress } from "../../fetch/egress/address.ts";
import { urlOfEntry } from "../../submit/url-entry.ts";

type PrivateHosts = {
  /** Checks each URL and yields it unchanged. */
  watch(urls: AsyncIterable<string>): AsyncIterable<string>;
  /** A warning about the first such URL; undefined if there is none. */
  warning(): string | undefined;
};

/** Checks literal addresses only. Workers resolve host names. */
export function createPrivateHosts(allowed: readonly Network[]): PrivateHosts {
  let sample: { url: string; host: string } | undefined;
  let lastHost = "";

  function check(entry: string): void {
    const url = urlOfEntry(entry);
    if (sample !== undefined || !URL.canParse(url)) return;
    const { hostname } = new URL(url);
    if (hostname === lastHost) return;
    lastHost = hostname;
    if (isPrivate(hostname, allowed)) sample = { url, host: hostname };
  }

  return {
    async *watch(urls) {
      for await (const url of urls) {
        check(url);
        yield url;
      }
    },
    warning() {
      if (sample === undefined) return undefined;
      const { url, host } = sample;
      return `${url} is on a private network: only workers with TRAWL_ALLOW_PRIVATE=${networkOf(host)} can fetch it`;
    },
  };
}

function isPrivate(hostname: string, allowed: readonly Network[]): boolean {
  const address = addressOf(hostname);
  return address !== undefined && !isPublicAddress(address) && !isWithin(allowed, address);
}

function addressOf(hostname: string): string | undefined {
  if (hostname === "localhost" || hostname.endsWith(".localhost")) return "127.0.0.1";
  return parseAddress(hostname) === undefined ? undefined : hostname;
}

function networkOf(hostname: string): string {
  const address = (addressOf(hostname) ?? hostname).replace(/^\[|\]$/g, "");
  return address.startsWith("127.") ? "127.0.0.0/8" : address;
}
