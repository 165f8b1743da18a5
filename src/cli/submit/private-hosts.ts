/** Notices URLs on private networks: a person at a terminal may name them, but workers have to be told. */
import { isPublicAddress, isWithin, type Network, parseAddress } from "../../fetch/egress/address.ts";

export type PrivateHosts = {
  /** The same URLs, looked at as they pass. */
  watch(urls: AsyncIterable<string>): AsyncIterable<string>;
  /** What to tell of them; undefined where there are none. */
  words(): string | undefined;
};

/** Judged by their looks: what a name resolves to is for the worker to find out, where it runs. */
export function createPrivateHosts(allowed: readonly Network[]): PrivateHosts {
  let sample: { url: string; host: string } | undefined;
  let lastHost = "";

  function look(url: string): void {
    if (sample !== undefined || !URL.canParse(url)) return;
    const { hostname } = new URL(url);
    if (hostname === lastHost) return;
    lastHost = hostname;
    if (isPrivate(hostname, allowed)) sample = { url, host: hostname };
  }

  return {
    async *watch(urls) {
      for await (const url of urls) {
        look(url);
        yield url;
      }
    },
    words() {
      if (sample === undefined) return undefined;
      const { url, host } = sample;
      return `${url} is on a private network: workers fetch from there only if they run with TRAWL_ALLOW_PRIVATE=${networkOf(host)}`;
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
