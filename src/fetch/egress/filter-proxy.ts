/**
 * The egress gate for programs that open their own connections, such as a browser: an HTTP proxy on loopback for all
 * their traffic. Plain requests are forwarded one by one; CONNECT carries TLS and WebSockets.
 *
 * Each proxy has secrets, so that no other local process can use it: one for the program, and one for each pass. The
 * pass counts and limits the bytes received for one page. Names are resolved here and never by the program, and sockets
 * connect to addresses that the gate has checked.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pipeline, type Readable } from "node:stream";
import { Agent, type buildConnector, type Dispatcher } from "undici";
import type { Exit } from "../../domain/exit.ts";
import { isTrawlError } from "../../errors.ts";
import type { EgressGate } from "./gate.ts";

export type FilterProxy = {
  /** Where it listens: `http://127.0.0.1:port`. */
  url: string;
  username: string;
  /** The secret for the program. Never passed on a command line. */
  password: string;
  /**
   * A page that the proxy itself serves to clients with the secret. Browsers answer a proxy's challenge only for
   * requests of pages and scripts, not for WebSockets. After loading this page, the context sends the secret with all
   * requests.
   */
  welcomeUrl: string;
  /** Creates a secret for a part of the program, with a byte limit. Its connections go through `exit`, if it is set. */
  admit(limits: PassLimits): ProxyPass;
  counts(): FilterProxyCounts;
  /** Closes all connections through it. */
  close(): Promise<void>;
};

export type PassLimits = { bytes: number; exit?: Exit | undefined };

type FilterProxyCounts = {
  /** Requests and tunnels that were allowed. */
  passed: number;
  /** Requests that the gate refused, with status 403. */
  refused: number;
  /** Requests without a valid secret, with status 407. */
  unknown: number;
};

/** Access for one part of the program, such as the page of one task. */
type ProxyPass = {
  username: string;
  password: string;
  /** Closes all its connections and requests, and accepts no more. */
  revoke(): void;
};

/** `open`: the connections from the program. Closing one of them also closes its connection to the remote host. */
type Holder = {
  expected: Buffer;
  bytes: number;
  maxBytes: number;
  open: Set<Socket | ServerResponse>;
  path: Path;
};

/** How connections leave: directly, or through an exit. */
type Path = { connector: buildConnector.connector; agent: Agent };

type Target = { hostname: string; port: string };

/** Hop-by-hop headers, which are not forwarded. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  ...["connection", "proxy-connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "expect"],
  ...["proxy-authorization", "proxy-authenticate"],
]);

/** A host in a top-level domain that never exists, so it cannot be the host of a site. */
const WELCOME_HOST = "welcome.trawl.invalid";

/** Starts a proxy. Resolves when it listens. */
export async function startFilterProxy(gate: EgressGate): Promise<FilterProxy> {
  const holders = new Map<string, Holder>();
  const paths = new Map<string, Path>();
  const direct = newPath(gate.connector);
  let admitted = 0;
  const own = admit({ bytes: Number.POSITIVE_INFINITY });
  const counts: FilterProxyCounts = { passed: 0, refused: 0, unknown: 0 };
  const sockets = new Set<Socket>();
  const server = createServer({ requestTimeout: 0 }, (request, response) => void forward(request, response));
  server.on("connect", (request: IncomingMessage, socket: Socket, head: Buffer) => tunnel(request, socket, head));
  // Upgrades outside of a tunnel are not forwarded. Browsers use a tunnel.
  server.on("upgrade", (_, socket: Socket) => endWith(socket, 501));
  server.on("connection", track);

  function track(socket: Socket): void {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // Either side may disappear at any time. Then the connection of the other side is closed.
    socket.on("error", () => socket.destroy());
  }

  function pathThrough(exit: Exit): Path {
    const path = paths.get(exit.id) ?? newPath(gate.connectorThrough(exit, { forwards: false }));
    paths.set(exit.id, path);
    return path;
  }

  function admit({ bytes, exit }: PassLimits): ProxyPass {
    admitted += 1;
    const username = `trawl${admitted}`;
    const password = randomBytes(24).toString("base64url");
    const expected = Buffer.from(`Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`);
    // A gateway takes the URLs of pages, and cannot carry the connections of a browser.
    const path = exit === undefined || exit.kind === "gateway" ? direct : pathThrough(exit);
    const holder: Holder = { expected, bytes: 0, maxBytes: bytes, open: new Set(), path };
    holders.set(username, holder);
    const revoke = (): void => {
      holders.delete(username);
      for (const near of holder.open) near.destroy();
    };
    return { username, password, revoke };
  }

  function holderOf({ headers }: IncomingMessage): Holder | undefined {
    const given = Buffer.from(headers["proxy-authorization"] ?? "");
    const holder = holders.get(usernameOf(given));
    if (holder !== undefined && given.length === holder.expected.length && timingSafeEqual(given, holder.expected)) {
      return holder;
    }
    counts.unknown++;
    return undefined;
  }

  function hold(holder: Holder, near: Socket | ServerResponse): void {
    holder.open.add(near);
    near.on("close", () => holder.open.delete(near));
  }

  /** Counts received bytes, and closes the connection when the limit of the pass is reached. */
  function charge(holder: Holder, incoming: Readable, end: () => void): void {
    incoming.on("data", (bytes: Buffer) => {
      holder.bytes += bytes.length;
      if (holder.bytes > holder.maxBytes) end();
    });
  }

  function tunnel(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const target = targetOf(request.url ?? "");
    const holder = holderOf(request);
    if (holder === undefined) endWith(socket, 407);
    else if (target === undefined) endWith(socket, 400);
    else if (isSpent(holder)) endWith(socket, 403);
    else connectTo(target, socket, head, holder);
  }

  function connectTo(target: Target, socket: Socket, head: Buffer, holder: Holder): void {
    hold(holder, socket);
    // Plain TCP: TLS is between the program and the remote host.
    holder.path.connector({ ...target, protocol: "http:" }, (...answer) => {
      const [error, far] = answer;
      if (error !== null) return endWith(socket, statusFor(error));
      track(far);
      if (socket.destroyed) return void far.destroy();
      counts.passed++;
      charge(holder, far, () => far.destroy());
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      far.write(head);
      pipeline(socket, far, () => far.destroy());
      pipeline(far, socket, () => socket.destroy());
    });
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const holder = holderOf(request);
    if (holder === undefined) return endResponse(response, 407);
    const url = URL.canParse(request.url ?? "") ? new URL(request.url ?? "") : undefined;
    if (url?.protocol !== "http:") return endResponse(response, 400);
    if (url.host === WELCOME_HOST) return void response.writeHead(200, { "content-type": "text/html" }).end();
    if (isSpent(holder)) return endResponse(response, 403);
    hold(holder, response);
    const leaving = new AbortController();
    response.on("close", () => leaving.abort());
    try {
      const answer = await holder.path.agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: (request.method ?? "GET") as Dispatcher.HttpMethod,
        headers: endToEnd(request.rawHeaders),
        body: hasBody(request) ? request : null,
        responseHeaders: "raw",
        signal: leaving.signal,
      });
      counts.passed++;
      // Raw headers are a flat list, which undici's types do not declare.
      response.writeHead(answer.statusCode, endToEnd(answer.headers as unknown as (Buffer | string)[]));
      charge(holder, answer.body, () => response.destroy());
      pipeline(answer.body, response, () => response.destroy());
    } catch (error) {
      endResponse(response, statusFor(error));
    }
  }

  function statusFor(error: unknown): number {
    if (!isTrawlError(error, "EGRESS_REFUSED")) return 502;
    counts.refused++;
    return 403;
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;

  return {
    url: `http://127.0.0.1:${port}`,
    username: own.username,
    password: own.password,
    admit,
    welcomeUrl: `http://${WELCOME_HOST}/`,
    counts: () => ({ ...counts }),
    async close() {
      const closed = server.listening ? once(server, "close") : undefined;
      server.close();
      for (const socket of sockets) socket.destroy();
      await Promise.all([direct, ...paths.values()].map(({ agent }) => agent.destroy()));
      await closed;
    },
  };
}

function newPath(connector: buildConnector.connector): Path {
  // No timeouts: the program that uses the proxy has its own.
  return { connector, agent: new Agent({ connect: connector, headersTimeout: 0, bodyTimeout: 0 }) };
}

function isSpent({ bytes, maxBytes }: Holder): boolean {
  return bytes >= maxBytes;
}

function usernameOf(authorization: Buffer): string {
  const [, encoded = ""] = /^Basic ([A-Za-z0-9+/=]+)$/.exec(authorization.toString("latin1")) ?? [];
  return Buffer.from(encoded, "base64").toString("latin1").split(":", 1)[0] ?? "";
}

/** Host and port of a CONNECT; undefined if invalid. */
function targetOf(authority: string): Target | undefined {
  const [, hostname, port] = /^(\[[\da-fA-F:.]+\]|[^\s:/@?#[\]]+):(\d{1,5})$/.exec(authority) ?? [];
  if (hostname === undefined || port === undefined || !URL.canParse(`http://${hostname}/`)) return undefined;
  // Normalized like a URL, because 0x7f.1 and 2130706433 are addresses too.
  return { hostname: new URL(`http://${hostname}/`).hostname, port };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
}

/** A flat list of names and values, without hop-by-hop headers. */
function endToEnd(raw: readonly (Buffer | string)[]): string[] {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([latin1(raw[at]), latin1(raw[at + 1])]);
  const named = pairs.filter(([name]) => name.toLowerCase() === "connection");
  const listed = new Set(named.flatMap(([, value]) => value.toLowerCase().split(/\s*,\s*/)));
  return pairs.filter(([name]) => !HOP_BY_HOP.has(name.toLowerCase()) && !listed.has(name.toLowerCase())).flat();
}

function latin1(text: Buffer | string | undefined): string {
  return typeof text === "string" ? text : (text?.toString("latin1") ?? "");
}

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  407: "Proxy Authentication Required",
  501: "Not Implemented",
  502: "Bad Gateway",
};

function endWith(socket: Socket, status: number): void {
  const challenge = status === 407 ? 'proxy-authenticate: Basic realm="trawl"\r\n' : "";
  socket.end(`HTTP/1.1 ${status} ${REASONS[status]}\r\n${challenge}content-length: 0\r\nconnection: close\r\n\r\n`);
}

function endResponse(response: ServerResponse, status: number): void {
  if (response.headersSent) return void response.destroy();
  if (status === 407) response.setHeader("proxy-authenticate", 'Basic realm="trawl"');
  response.writeHead(status, { "content-length": 0 }).end();
}
