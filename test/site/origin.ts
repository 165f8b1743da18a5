/**
 * A real HTTP server for tests with its own access log, so that tests can judge a crawl from the side of the site.
 * Shares no code with src/.
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { performance } from "node:perf_hooks";

/** One logged request. Times are epoch ms with fractions, monotonic within the process. */
export type Arrival = {
  /** Number of the request, from 0. */
  id: number;
  /** When the headers had arrived. */
  arrivedAt: number;
  /**
   * When the last byte of the answer was passed to the operating system, or when the client disconnected. Undefined
   * before that.
   */
  endedAt: number | undefined;
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** 0 before the answer, and if the client disconnected before the answer. */
  status: number;
  /** Number of the connection, from 1. */
  socket: number;
};

export type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** A fixed answer. A string is an HTML page. */
export type Reply = { status?: number; headers?: Record<string, string>; body?: string | Buffer };

/** The answer for each path, without query. Other paths get 404. */
export type Routes = Readonly<Record<string, string | Reply | Handler>>;

export type OriginOptions = {
  host?: string;
  /** Default: 0, a free port. */
  port?: number;
  onArrival?: (arrival: Readonly<Arrival>) => void;
  onEnd?: (arrival: Readonly<Arrival>) => void;
};

export type Origin = {
  /** Without a trailing slash. */
  url: string;
  /** `host:port`. */
  site: string;
  log: readonly Arrival[];
  /** Resolves when `count` requests have arrived since the start. Rejects if the origin closes before. */
  waitForRequests(count: number): Promise<void>;
  /** Also ends open connections. A second call does nothing. */
  close(): Promise<void>;
};

type Waiter = { count: number; resolve: () => void; reject: (reason: Error) => void };

/** Serves until closed. A handler that throws answers 500. */
export async function startOrigin(content: Handler | Routes, options: OriginOptions = {}): Promise<Origin> {
  const { host = "127.0.0.1", port = 0, onArrival, onEnd } = options;
  const log: Arrival[] = [];
  const waiters = new Set<Waiter>();
  const socketOf = socketCounter();
  const handle = typeof content === "function" ? content : routed(content);

  const server = createServer((request, response) => {
    const arrival = arrivalOf(log.length, request, socketOf(request.socket));
    log.push(arrival);
    onArrival?.(arrival);
    response.once("finish", () => end(arrival, response.statusCode, onEnd));
    response.once("close", () => end(arrival, response.headersSent ? response.statusCode : 0, onEnd));
    for (const waiter of waiters) settleIfMet(waiter, waiters, log.length);
    run(handle, request, response);
  });
  const site = await listen(server, host, port);

  return {
    url: `http://${site}`,
    site,
    log,
    waitForRequests: (count) =>
      new Promise((resolve, reject) => {
        const waiter = { count, resolve, reject };
        waiters.add(waiter);
        settleIfMet(waiter, waiters, log.length);
      }),
    close: async () => {
      await closeServer(server);
      for (const { count, reject } of waiters)
        reject(new Error(`origin closed after ${log.length} of ${count} requests`));
      waiters.clear();
    },
  };
}

/** Epoch ms with fractions. Unlike `Date.now`, it never goes back. */
export function preciseNow(): number {
  return performance.timeOrigin + performance.now();
}

function arrivalOf(id: number, request: IncomingMessage, socket: number): Arrival {
  const { method = "", url = "", headers } = request;
  return { id, arrivedAt: preciseNow(), endedAt: undefined, method, path: url, headers, status: 0, socket };
}

function end(arrival: Arrival, status: number, onEnd: OriginOptions["onEnd"]): void {
  if (arrival.endedAt !== undefined) return;
  arrival.endedAt = preciseNow();
  arrival.status = status;
  onEnd?.(arrival);
}

function settleIfMet(waiter: Waiter, waiters: Set<Waiter>, arrived: number): void {
  if (arrived < waiter.count) return;
  waiters.delete(waiter);
  waiter.resolve();
}

function run(handle: Handler, request: IncomingMessage, response: ServerResponse): void {
  new Promise<void>((resolve) => resolve(handle(request, response))).catch((error: unknown) => {
    if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain; charset=utf-8" });
    response.end(String(error));
  });
}

function routed(routes: Routes): Handler {
  return (request, response) => {
    const path = (request.url ?? "").replace(/\?.*$/, "");
    const route = Object.hasOwn(routes, path) ? routes[path] : { status: 404, body: "not found" };
    if (typeof route === "function") return route(request, response);
    send(response, typeof route === "string" ? { body: route } : (route ?? {}));
  };
}

function send(response: ServerResponse, { status = 200, headers = {}, body = "" }: Reply): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}

function socketCounter(): (socket: Socket) => number {
  const known = new WeakMap<Socket, number>();
  let count = 0;
  return (socket) => {
    const id = known.get(socket) ?? ++count;
    known.set(socket, id);
    return id;
  };
}

function listen(server: Server, host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve(`${host}:${(server.address() as AddressInfo).port}`));
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // The only possible error is that the server was already closed.
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
