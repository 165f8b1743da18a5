/**
 * Real proxies for tests: HTTP with CONNECT and whole URLs, and SOCKS5, both with credentials. A proxy connects to sites
 * from its own address (127.0.1.n), so that a site can see which proxy a request comes from. Shares no code with src/.
 */
import { createServer as createHttpServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

export type ProxyMode =
  | "works"
  /** Closes every connection at once. */
  | "dead"
  /** Answers only after `release`. */
  | "stuck";

export type TestProxy = {
  /** With credentials, if it has some. */
  url: string;
  /** The address that sites see. */
  address: string;
  /** What clients asked it to connect to: `host:port`. */
  targets: string[];
  /** Connections from clients, and requests without valid credentials. */
  connections: number;
  refused: number;
  mode: ProxyMode;
  /** Waits this long before it connects to a site. */
  delayMs: number;
  release(): void;
  /** Ends all connections and closes the port, so that new connections are refused. */
  stopListening(): Promise<void>;
  /** Opens the same port again. */
  listenAgain(): Promise<void>;
  close(): Promise<void>;
};

export type ProxyOptions = {
  kind?: "http" | "https" | "socks5";
  username?: string;
  password?: string;
  /** Default: 127.0.0.1. Every address in 127.0.0.0/8 is of this machine. */
  address?: string;
  /** Connects to this address instead of the target. */
  connectTo?: { host: string; port: number };
  /** The status of the answer to CONNECT instead of connecting. */
  connectStatus?: number;
  tls?: { cert: Buffer; key: Buffer };
};

export async function startProxy(options: ProxyOptions = {}): Promise<TestProxy> {
  const { kind = "http", username = "", password = "", address = "127.0.0.1" } = options;
  const sockets = new Set<Socket>();
  const stuck: (() => void)[] = [];
  const state = { targets: [] as string[], connections: 0, refused: 0, mode: "works" as ProxyMode, delayMs: 0 };

  /** Whether the connection may be served now. */
  function admit(socket: Socket): Promise<boolean> {
    state.connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    if (state.mode === "dead") socket.destroy();
    if (state.delayMs > 0) return new Promise((resolve) => setTimeout(resolve, state.delayMs, true));
    if (state.mode !== "stuck") return Promise.resolve(state.mode === "works");
    return new Promise((resolve) => stuck.push(() => resolve(true)));
  }

  function open(host: string, port: number): Socket {
    state.targets.push(`${host}:${port}`);
    const far = connect({ ...(options.connectTo ?? { host, port }), localAddress: address });
    sockets.add(far);
    far.on("close", () => sockets.delete(far));
    return far;
  }

  const isKnown = (user: string, secret: string): boolean => {
    const isRight = user === username && secret === password;
    if (!isRight) state.refused++;
    return isRight;
  };
  const deps: Deps = { admit, open, isKnown, options, hasCredentials: username !== "", address, state };
  const server = kind === "socks5" ? socksServer(deps) : httpServer(deps);
  const listen = (at: number) =>
    new Promise<void>((resolve, reject) => server.once("error", reject).listen(at, address, resolve));
  const stopListening = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<unknown>((resolve) => server.close(resolve));
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const credentials = username === "" ? "" : `${username}:${encodeURIComponent(password)}@`;
  return Object.assign(state, {
    url: `${kind}://${credentials}${address}:${port}`,
    address,
    release: () => {
      for (const go of stuck.splice(0)) go();
    },
    stopListening,
    listenAgain: () => listen(port),
    close: stopListening,
  });
}

type Deps = {
  admit(socket: Socket): Promise<boolean>;
  open(host: string, port: number): Socket;
  isKnown(username: string, password: string): boolean;
  options: ProxyOptions;
  hasCredentials: boolean;
  address: string;
  state: { targets: string[] };
};

function httpServer({ admit, open, isKnown, options, hasCredentials, address, state }: Deps): Server {
  const admitted = new WeakMap<Socket, Promise<boolean>>();
  const isAllowed = ({ headers }: IncomingMessage): boolean => {
    if (!hasCredentials) return true;
    const [, encoded = ""] = /^Basic (.+)$/.exec(headers["proxy-authorization"] ?? "") ?? [];
    const [user = "", ...secret] = Buffer.from(encoded, "base64").toString().split(":");
    return isKnown(user, secret.join(":"));
  };
  const forward = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    await admitted.get(incoming.socket);
    if (!isAllowed(incoming)) return void response.writeHead(407).end();
    const url = new URL(incoming.url ?? "");
    state.targets.push(`${url.hostname}:${url.port || 80}`);
    const { "proxy-authorization": _, ...headers } = incoming.headers;
    const to = options.connectTo ?? { host: url.hostname, port: Number(url.port || 80) };
    const path = url.pathname + url.search;
    const onward = request({ ...to, path, method: incoming.method, headers, localAddress: address }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.writeHead(502).end());
    incoming.pipe(onward);
  };
  const server = options.tls === undefined ? createHttpServer(forward) : createHttpsServer(options.tls, forward);
  server.on(options.tls === undefined ? "connection" : "secureConnection", (socket: Socket) => {
    admitted.set(socket, admit(socket));
  });
  server.on("connect", async (incoming: IncomingMessage, near: Socket) => {
    if ((await admitted.get(near)) === false) return;
    if (!isAllowed(incoming)) return void near.end("HTTP/1.1 407 No\r\n\r\n");
    const [, host = "", port = ""] = /^\[?(.*?)\]?:(\d+)$/.exec(incoming.url ?? "") ?? [];
    if (options.connectStatus !== undefined) return void near.end(`HTTP/1.1 ${options.connectStatus} No\r\n\r\n`);
    const far = open(host, Number(port));
    far.on("connect", () => near.write("HTTP/1.1 200 Connection established\r\nx-proxy: test\r\n\r\n"));
    far.on("error", () => near.end("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
    joined(near, far);
  });
  return server;
}

/** Reads the messages of RFC 1928 and RFC 1929, which clients send one at a time. */
function socksServer({ admit, open, isKnown, hasCredentials }: Deps): Server {
  return createServer(async (near) => {
    if (!(await admit(near))) return;
    const next = messagesOf(near);
    await next();
    near.write(Buffer.from([5, hasCredentials ? 2 : 0]));
    if (hasCredentials) {
      const login = await next();
      const userEnd = 2 + (login[1] ?? 0);
      const user = login.subarray(2, userEnd).toString();
      const isRight = isKnown(user, login.subarray(userEnd + 1).toString());
      near.write(Buffer.from([1, isRight ? 0 : 1]));
      if (!isRight) return void near.end();
    }
    const asked = await next();
    const [type, length = 0] = [asked[3], asked[4]];
    const end = type === 3 ? 5 + length : type === 1 ? 8 : 20;
    const host = type === 3 ? asked.subarray(5, end).toString() : addressText(asked.subarray(4, end));
    const far = open(host, asked.readUInt16BE(end));
    far.on("connect", () => near.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])));
    far.on("error", () => near.end(Buffer.from([5, 5, 0, 1, 0, 0, 0, 0, 0, 0])));
    near.removeAllListeners("data");
    joined(near, far);
  });
}

function messagesOf(socket: Socket): () => Promise<Buffer> {
  const waiting: ((message: Buffer) => void)[] = [];
  const arrived: Buffer[] = [];
  socket.on("data", (message) => {
    const waiter = waiting.shift();
    if (waiter === undefined) arrived.push(message as Buffer);
    else waiter(message as Buffer);
  });
  return () =>
    new Promise((resolve) => (arrived.length > 0 ? resolve(arrived.shift() as Buffer) : waiting.push(resolve)));
}

function addressText(bytes: Buffer): string {
  if (bytes.length === 4) return [...bytes].join(".");
  return Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16)).join(":");
}

function joined(near: Socket, far: Socket): void {
  near.pipe(far);
  far.pipe(near);
  near.on("close", () => far.destroy());
  far.on("close", () => near.destroy());
  far.on("error", () => near.destroy());
}
