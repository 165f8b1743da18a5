/** A web server on a bare TCP socket, so that it can violate HTTP. */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";

export type Seen = {
  path: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** The number of the connection, counted from 1. */
  connection: number;
};

/** Answers one request. The socket stays open unless the behaviour closes it. */
export type Behaviour = (socket: Socket, request: Seen) => void;

export type MisbehavingServer = {
  origin: string;
  port: number;
  /** Every request whose head arrived, in order. */
  requests: Seen[];
  connections: Socket[];
  on(path: string, behaviour: Behaviour): void;
  /** Resolves when the request after those seen so far arrives. */
  nextRequest(): Promise<Seen>;
  close(): Promise<void>;
};

export async function startMisbehavingServer(): Promise<MisbehavingServer> {
  const behaviours = new Map<string, Behaviour>();
  const requests: Seen[] = [];
  const connections: Socket[] = [];
  const waiting: ((seen: Seen) => void)[] = [];

  function answer(socket: Socket, seen: Seen): void {
    requests.push(seen);
    for (const notify of waiting.splice(0)) notify(seen);
    const behaviour = behaviours.get(seen.path.replace(/\?.*/, ""));
    if (behaviour === undefined) respond(socket, { status: 404 });
    else behaviour(socket, seen);
  }

  const server = createServer((socket) => {
    connections.push(socket);
    const connection = connections.length;
    socket.setNoDelay(true);
    // Tests reset connections on purpose.
    socket.on("error", () => socket.destroy());
    let buffered = "";
    socket.on("data", (chunk) => {
      buffered += chunk.toString("latin1");
      for (let end = buffered.indexOf("\r\n\r\n"); end !== -1; end = buffered.indexOf("\r\n\r\n")) {
        const head = buffered.slice(0, end);
        buffered = buffered.slice(end + 4);
        answer(socket, { ...parseHead(head), connection });
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;

  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    requests,
    connections,
    on: (path, behaviour) => behaviours.set(path, behaviour),
    nextRequest: () => new Promise((resolve) => waiting.push(resolve)),
    async close() {
      for (const socket of connections) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

export type Answer = {
  status?: number;
  headers?: Readonly<Record<string, string | readonly string[]>>;
  body?: string | Buffer;
};

/** Sends a correct response, with header values as Latin-1. */
export function respond(socket: Socket, { status = 200, headers = {}, body = "" }: Answer): void {
  const content = Buffer.from(body);
  const lines = [`HTTP/1.1 ${status} Whatever`];
  for (const [name, value] of Object.entries({ "content-length": String(content.length), ...headers })) {
    for (const one of typeof value === "string" ? [value] : value) lines.push(`${name}: ${one}`);
  }
  const isBodyless = status === 204 || status === 304;
  socket.write(
    Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), isBodyless ? Buffer.alloc(0) : content]),
  );
}

/** Always sends this response. */
export function always(answer: Answer): Behaviour {
  return (socket) => respond(socket, answer);
}

/** Sends these bytes unchanged, and then closes the connection if `close` is true. */
export function bytes(raw: string | Buffer, { close = false } = {}): Behaviour {
  return (socket) => {
    const content = typeof raw === "string" ? Buffer.from(raw, "latin1") : raw;
    if (close) socket.end(content);
    else socket.write(content);
  };
}

/** Sends `head` and then `chunk` again and again, until the client closes the connection. */
export function endlessly(head: string, chunk: Buffer): Behaviour {
  return (socket) => {
    socket.write(head);
    const more = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on("drain", more);
    more();
  };
}

function parseHead(head: string): Omit<Seen, "connection"> {
  const [requestLine = "", ...lines] = head.split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return { path: requestLine.split(" ")[1] ?? "", headers: Object.fromEntries(headers) };
}
