/**
 * Opens sockets through an exit, for undici. The egress gate holds for the targets: Trawl resolves each name, checks
 * every address, and asks the proxy for a connection to a checked address. An exit with `resolve: "proxy"` gets the
 * name instead; addresses in URLs are still checked. The addresses of the exits themselves are not checked, because
 * only the operator lists them.
 */
import type { Socket } from "node:net";
import { buildConnector } from "undici";
import type { Exit } from "../../domain/exit.ts";
import { parseAddress } from "./address.ts";
import type { EgressGate } from "./gate.ts";
import { openHttpTunnel } from "./http-tunnel.ts";
import { PROXY_FAILED, proxyError } from "./proxy-error.ts";
import { openSocks5Tunnel, type TunnelTarget } from "./socks5.ts";

type Target = buildConnector.Options;

/**
 * Whether requests for a URL are sent to the proxy itself with the whole URL, without a tunnel. Then the proxy resolves
 * the name. Many HTTP proxies open tunnels only to port 443.
 */
export function isForwarded({ kind, resolve }: Pick<Exit, "kind" | "resolve">, scheme: string): boolean {
  return scheme === "http:" && resolve === "proxy" && (kind === "http" || kind === "https");
}

export type ProxyConnectorOptions = {
  /** Whether requests that are forwarded get a connection to the proxy itself. Otherwise, all connections are tunnels. */
  forwards: boolean;
};

/** `connectMs`: the timeout of connecting to the proxy, of its answer, and of the TLS handshake with the site, each. */
export function createProxyConnector(
  gate: Pick<EgressGate, "addressesOf">,
  exit: Exit,
  { connectMs, forwards }: ProxyConnectorOptions & { connectMs: number },
): buildConnector.connector {
  const connect = buildConnector({ timeout: connectMs, autoSelectFamily: true });
  const { protocol, hostname, port, host } = new URL(exit.url);
  const openTunnel = exit.kind === "socks5" ? openSocks5Tunnel : openHttpTunnel;

  async function connectToProxy(): Promise<Socket> {
    const scheme = protocol === "https:" ? "https:" : "http:";
    const toProxy = { protocol: scheme, hostname: bare(hostname), host, port: port || DEFAULT_PORTS[protocol] || "" };
    try {
      return await opened(connect, toProxy);
    } catch (error) {
      throw failureOf(exit, error);
    }
  }

  async function tunnelTo(target: Target): Promise<Socket> {
    const host = await addressFor(target);
    const socket = await connectToProxy();
    const to: TunnelTarget = { host, port: Number(target.port) || (target.protocol === "https:" ? 443 : 80) };
    const late = setTimeout(
      () => socket.destroy(proxyError(PROXY_FAILED, `it did not answer in ${connectMs} ms`)),
      connectMs,
    );
    try {
      await openTunnel(socket, to, exit);
    } catch (error) {
      socket.destroy();
      throw failureOf(exit, error);
    } finally {
      clearTimeout(late);
    }
    if (target.protocol !== "https:") return socket;
    return opened(connect, { ...target, hostname: bare(target.hostname), httpSocket: socket });
  }

  /** The checked address that the proxy connects to, or the name if the proxy resolves it. */
  async function addressFor({ hostname }: Target): Promise<string> {
    const host = bare(hostname);
    if (exit.resolve === "proxy" && parseAddress(host) === undefined) return host;
    const addresses = await gate.addressesOf(host);
    // More proxies have IPv4 than IPv6.
    return addresses.find((address) => !address.includes(":")) ?? addresses[0] ?? host;
  }

  return (target, callback) => {
    const isPlain = exit.kind === "gateway" || (forwards && isForwarded(exit, target.protocol));
    const opening = isPlain ? connectToProxy() : tunnelTo(target);
    opening.then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443", "socks5:": "1080" };

function opened(connect: buildConnector.connector, target: Target): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connect(target, (...[error, socket]) => {
      if (error === null) resolve(socket);
      else reject(error);
    });
  });
}

/** The error with the name of the proxy. Its code is kept if it is already that of a proxy. */
function failureOf({ label }: Exit, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  const cause = message === "" && error instanceof AggregateError ? String(error.errors[0]?.message) : message;
  return proxyError(code?.startsWith("PROXY_") ? (code as typeof PROXY_FAILED) : PROXY_FAILED, `${label}: ${cause}`);
}

function bare(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}
