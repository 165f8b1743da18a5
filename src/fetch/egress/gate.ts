/**
 * The egress gate. All requests go through it: pages, robots.txt, sitemaps, redirect hops, webhooks, also those that a
 * proxy forwards.
 *
 * `check` validates a URL without resolving its host. `connector` enforces the rules. It resolves a name once per
 * connection and checks every address of the answer. The socket connects to one of these addresses, so DNS rebinding
 * has no effect. The connector then checks the peer address of the connected socket again.
 */
import dns from "node:dns/promises";
import type { LookupFunction, Socket } from "node:net";
import { buildConnector } from "undici";
import type { Exit } from "../../domain/exit.ts";
import { TrawlError } from "../../errors.ts";
import { isPublicAddress, isWithin, type Network, parseAddress } from "./address.ts";
import { createProxyConnector, type ProxyConnectorOptions } from "./proxy-connector.ts";

/** Resolves a host name to all its addresses. Rejects as `node:dns` does, with a `code`. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

export type EgressOptions = {
  /** Private networks that the operator allows. */
  allowNetworks: readonly Network[];
  /** Hosts that the user typed. They may be private; hosts they redirect to may not. */
  allowHosts: readonly string[];
  /** Timeout of resolving, connecting and the TLS handshake together. */
  connectMs: number;
};

export type EgressGate = {
  /** Why a URL may not be fetched; undefined if it may. Does not resolve the host. */
  check(url: string | URL): string | undefined;
  /** Opens sockets for undici, to allowed addresses only. For other addresses, it fails with EGRESS_REFUSED. */
  connector: buildConnector.connector;
  /**
   * The addresses of a host, all of them allowed, for connections that a proxy opens. Rejects with EGRESS_REFUSED, or
   * as `node:dns` does.
   */
  addressesOf(host: string): Promise<readonly string[]>;
  /** Like `connector`, for connections through a proxy or to a gateway. */
  connectorThrough(exit: Exit, options: ProxyConnectorOptions): buildConnector.connector;
};

const SCHEMES: readonly string[] = ["http:", "https:"];

export function createEgressGate(
  { lookup = systemLookup }: { lookup?: Lookup },
  { allowNetworks, allowHosts, connectMs }: EgressOptions,
): EgressGate {
  const typedHosts = new Set(allowHosts.map(plainHost));

  const isAllowed = (host: string, address: string): boolean =>
    isPublicAddress(address) || isWithin(allowNetworks, address) || typedHosts.has(plainHost(host));

  async function resolve(host: string): Promise<readonly string[]> {
    const addresses = await lookup(host);
    if (addresses.length === 0) throw Object.assign(new Error(`${host} has no address`), { code: "ENOTFOUND" });
    // One private address rejects the whole answer: a name with public and private addresses is misconfigured or
    // malicious.
    const refused = addresses.find((address) => !isAllowed(host, address));
    if (refused !== undefined) throw refusal(host, refused);
    return addresses;
  }

  const connect = buildConnector({ timeout: connectMs, lookup: asNodeLookup(resolve), autoSelectFamily: true });

  async function addressesOf(host: string): Promise<readonly string[]> {
    if (parseAddress(host) === undefined) return resolve(host);
    if (!isAllowed(host, host)) throw refusal(host, host);
    return [host];
  }

  return {
    addressesOf,
    connectorThrough: (exit, options) => createProxyConnector({ addressesOf }, exit, { connectMs, ...options }),
    check(url) {
      if (typeof url === "string" && !URL.canParse(url)) return `${JSON.stringify(url)} is not a URL`;
      const { protocol, hostname } = typeof url === "string" ? new URL(url) : url;
      if (!SCHEMES.includes(protocol)) return `${protocol} URLs are not fetched, only http: and https:`;
      const host = unbracketed(hostname);
      return parseAddress(host) === undefined || isAllowed(host, host) ? undefined : refusal(host, host).message;
    },
    connector(options, callback) {
      const host = unbracketed(options.hostname);
      // Node does not call the lookup function for a literal address.
      if (parseAddress(host) !== undefined && !isAllowed(host, host)) return callback(refusal(host, host), null);
      connect(options, (...answer) => {
        const [error, socket] = answer;
        if (error !== null) return callback(error, null);
        const problem = peerProblem(host, socket, isAllowed);
        if (problem === undefined) return callback(null, socket);
        socket.destroy();
        callback(problem, null);
      });
    },
  };
}

async function systemLookup(hostname: string): Promise<readonly string[]> {
  const answers = await dns.lookup(hostname, { all: true });
  return answers.map(({ address }) => address);
}

function peerProblem(
  host: string,
  { remoteAddress }: Socket,
  isAllowed: (host: string, address: string) => boolean,
): Error | undefined {
  if (remoteAddress === undefined) {
    return Object.assign(new Error(`the connection to ${host} closed at once`), { code: "ECONNRESET" });
  }
  return isAllowed(host, remoteAddress) ? undefined : refusal(host, remoteAddress);
}

function refusal(host: string, address: string): TrawlError {
  const what = host === address ? `the address ${address}` : `${host} resolves to ${address}, which`;
  return new TrawlError("EGRESS_REFUSED", {
    op: "egress.connect",
    message: `${what} is not on the public internet; allow its network with TRAWL_ALLOW_PRIVATE if it is yours`,
    detail: { host, address },
  });
}

function asNodeLookup(resolve: (host: string) => Promise<readonly string[]>): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const answers = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
        const [first] = answers;
        if (options.all || first === undefined) callback(null, answers);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, ""),
    );
  };
}

/** A host as the URL parser normalizes it, without brackets, so that `LOCALHOST`, `0x7f.1` and `[::1]:80` match. */
function plainHost(text: string): string {
  const host = text.includes(":") && !text.startsWith("[") && parseAddress(text) !== undefined ? `[${text}]` : text;
  return URL.canParse(`http://${host}/`) ? unbracketed(new URL(`http://${host}/`).hostname) : text;
}

function unbracketed(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}
