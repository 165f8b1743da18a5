/** How requests are sent through exits: the connections of each exit, and what differs in the request itself. */
import type { Exit } from "../../domain/exit.ts";
import type { EgressGate } from "../egress/gate.ts";
import { proxyAuthorization } from "../egress/http-tunnel.ts";
import { isForwarded } from "../egress/proxy-connector.ts";
import { type ConnectionOptions, type Connections, createConnections } from "./connections.ts";

type ExitPath = {
  connections: Connections;
  origin: string;
  /** The path, or the whole URL if the proxy forwards the request. */
  path: string;
  headers: Readonly<Record<string, string>>;
};

type ExitPaths = {
  of(exit: Exit, url: URL): ExitPath;
  /** Why the URL may not be requested from the exit. A gateway connects to the site itself, so the gate cannot. */
  problemOf(exit: Exit, url: URL): Promise<unknown>;
  close(): Promise<void>;
};

export function createExitPaths(
  gate: Pick<EgressGate, "addressesOf" | "connectorThrough">,
  options: ConnectionOptions,
): ExitPaths {
  const pools = new Map<string, Connections>();

  function poolOf(exit: Exit): Connections {
    const pool = pools.get(exit.id) ?? createConnections(gate.connectorThrough(exit, { forwards: true }), options);
    pools.set(exit.id, pool);
    return pool;
  }

  return {
    of(exit, url) {
      const connections = poolOf(exit);
      if (exit.kind === "gateway") return { connections, ...partsOf(gatewayUrl(exit, url)), headers: NO_HEADERS };
      if (!isForwarded(exit, url.protocol)) return { connections, ...partsOf(url), headers: NO_HEADERS };
      const authorization = proxyAuthorization(exit);
      const headers = authorization === undefined ? NO_HEADERS : { "proxy-authorization": authorization };
      return { connections, origin: url.origin, path: `${url.origin}${url.pathname}${url.search}`, headers };
    },
    async problemOf(exit, url) {
      if (exit.kind !== "gateway" || exit.resolve === "proxy") return undefined;
      return gate.addressesOf(url.hostname.replace(/^\[|\]$/g, "")).then(
        () => undefined,
        (error: unknown) => error,
      );
    },
    async close() {
      await Promise.all([...pools.values()].map(({ agent }) => agent.destroy()));
    },
  };
}

const NO_HEADERS = {};

function partsOf(url: URL): Pick<ExitPath, "origin" | "path"> {
  return { origin: url.origin, path: url.pathname + url.search };
}

function gatewayUrl({ url: pattern }: Exit, { href }: URL): URL {
  // The URL is not parsed with the placeholder in it, because the parser encodes braces.
  return new URL(pattern.replaceAll("{url}", encodeURIComponent(href)));
}
