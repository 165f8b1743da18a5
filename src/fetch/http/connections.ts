/** The pool of connections: kept alive, limited per site, opened through the egress gate only, and only when wanted. */
import { Agent } from "undici";
import type { EgressGate } from "../egress/gate.ts";

export type ConnectionOptions = {
  /** Connections open at once to one scheme, host and port. */
  connectionsPerSite: number;
  /** How long an idle connection is kept where the site does not say. */
  keepAliveMs: number;
};

export type Connections = {
  agent: Agent;
  /** To be called when a request begins to wait for a connection to `origin`, and when it no longer does. */
  beginWait(origin: string): void;
  endWait(origin: string): void;
  /** Whether the request that starts at this very moment is the first of its connection. */
  isNew(): boolean;
};

const HEADER_BYTES_MOST = 65_536;

export function createConnections(
  gate: EgressGate,
  { connectionsPerSite, keepAliveMs }: ConnectionOptions,
): Connections {
  const waiting = new Map<string, number>();
  let isNew = false;

  const agent = new Agent({
    connections: connectionsPerSite,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: HEADER_BYTES_MOST,
    connect(target, callback) {
      // After a request is aborted undici opens a connection to send it again, before it sees that it need not.
      if (!waiting.has(new URL(`${target.protocol}//${target.host ?? target.hostname}`).origin)) {
        return callback(new Error("nobody waits for this connection"), null);
      }
      gate.connector(target, (...answer) => {
        // undici starts the first request of a connection within this very call, and all others outside of it.
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
