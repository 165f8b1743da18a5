/** A connection pool: keep-alive, limited per site, opened only through the egress gate or an exit, and only on demand. */
import { Agent, type buildConnector } from "undici";

export type ConnectionOptions = {
  /** Maximum number of connections to one scheme, host and port. */
  connectionsPerSite: number;
  /** How long an idle connection is kept if the site does not specify it. */
  keepAliveMs: number;
};

export type Connections = {
  agent: Agent;
  /** Call when a request starts to wait for a connection to `origin`, and when it stops waiting. */
  beginWait(origin: string): void;
  endWait(origin: string): void;
  /** Whether the request that starts now is the first one on its connection. */
  isNew(): boolean;
};

const MAX_HEADER_BYTES = 65_536;

export function createConnections(
  connector: buildConnector.connector,
  { connectionsPerSite, keepAliveMs }: ConnectionOptions,
): Connections {
  const waiting = new Map<string, number>();
  let isNew = false;

  const agent = new Agent({
    connections: connectionsPerSite,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: MAX_HEADER_BYTES,
    connect(target, callback) {
      // After a request is aborted, undici opens a connection for a retry before it sees that none is needed.
      if (!waiting.has(new URL(`${target.protocol}//${target.host ?? target.hostname}`).origin)) {
        return callback(new Error("no request waits for this connection"), null);
      }
      connector(target, (...answer) => {
        // undici starts the first request of a connection within this call, and all others outside of it.
        isNew = true;
        callback(...answer);
        isNew = false;
      });
    },
  });

  return {
    agent,
    beginWait: (origin) => waiting.set(origin, (waiting.get(origin) ?? 0) + 1),
    endWait(origin) {
      const left = (waiting.get(origin) ?? 1) - 1;
      if (left === 0) waiting.delete(origin);
      else waiting.set(origin, left);
    },
    isNew: () => isNew,
  };
}
