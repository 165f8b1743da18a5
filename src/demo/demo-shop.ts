/**
 * A small shop on this machine for testing crawlers. It has a few hundred products and some problems of real sites. It
 * keeps an access log, so that tests can check which requests a crawl sent.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { gzipSync } from "node:zlib";
import { TrawlError } from "../errors.ts";
import { createAccount, MAX_BODY_BYTES } from "./account.ts";
import { createCatalogue } from "./catalogue.ts";
import { type Answer, createRoutes } from "./routes.ts";

type DemoShopOptions = {
  /** 0: any free port. */
  port: number;
  host?: string;
};

/** One entry of the access log. */
type Visit = {
  /** When the request headers arrived, in epoch ms with fractions. */
  at: number;
  method: string;
  path: string;
  status: number;
  agent: string;
  /** The number of the connection; requests with the same number used the same connection. */
  connection: number;
};

export type DemoShop = {
  /** Without a slash at the end. */
  url: string;
  /** Every request since the shop opened, in order of arrival. */
  log: readonly Visit[];
  /** Also ends open connections. May be called twice. */
  close(): Promise<void>;
};

const CATALOGUE_SEED = 7;

/** Starts the shop; resolves when it accepts requests. */
export async function createDemoShop({ port, host = "127.0.0.1" }: DemoShopOptions): Promise<DemoShop> {
  const log: Visit[] = [];
  const waiting = new Set<NodeJS.Timeout>();
  const server = createServer();
  const url = await listen(server, port, host);
  const catalogue = createCatalogue(CATALOGUE_SEED);
  const routes = createRoutes(catalogue, url);
  const account = createAccount(catalogue, url);
  const connectionOf = connectionCounter();

  function answerTo(request: IncomingMessage, body: string): Answer {
    const { method = "", url: target = "" } = request;
    const path = pathOf(target);
    const query = new URLSearchParams(target.slice(path.length));
    const apiKey = String(request.headers["x-api-key"] ?? "");
    const ofAccount = account.answer({ method, path, query, apiKey, body, cookies: cookiesOf(request) });
    if (ofAccount !== undefined) return ofAccount;
    return method === "GET" || method === "HEAD" ? routes.answer(path) : METHOD_NOT_ALLOWED;
  }

  server.on("request", async (request, response) => {
    const { method = "", url: target = "" } = request;
    const body = method === "POST" ? await readBody(request) : "";
    const answer = answerTo(request, body);
    log.push({
      at: performance.timeOrigin + performance.now(),
      method,
      path: target,
      status: answer.status,
      agent: request.headers["user-agent"] ?? "",
      connection: connectionOf(request.socket),
    });
    if (answer.delayMs === 0) return send(answer, request, response);
    const timer = setTimeout(() => {
      waiting.delete(timer);
      send(answer, request, response);
    }, answer.delayMs);
    waiting.add(timer);
  });

  return {
    url,
    log,
    close: async () => {
      for (const timer of waiting) clearTimeout(timer);
      await closeServer(server);
    },
  };
}

const METHOD_NOT_ALLOWED: Answer = {
  status: 405,
  headers: { "content-type": "text/plain; charset=utf-8", allow: "GET, HEAD" },
  body: Buffer.from("this shop is read-only\n"),
  delayMs: 0,
  isCompressible: false,
};

function send(answer: Answer, request: IncomingMessage, response: ServerResponse): void {
  const isZipped = answer.isCompressible && /\bgzip\b/.test(String(request.headers["accept-encoding"]));
  const body = isZipped ? gzipSync(answer.body) : answer.body;
  response.writeHead(answer.status, {
    ...answer.headers,
    ...(answer.isCompressible ? { vary: "accept-encoding" } : {}),
    ...(isZipped ? { "content-encoding": "gzip" } : {}),
    "content-length": body.length,
  });
  response.end(request.method === "HEAD" ? undefined : body);
}

/** The body of a request, cut at the limit. */
async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += (chunk as Buffer).length;
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk as Buffer);
    }
  } catch {
    // The client has disconnected. Nothing is sent to it.
  }
  return Buffer.concat(chunks).toString("utf8");
}

function cookiesOf({ headers }: IncomingMessage): Map<string, string> {
  const pairs = (headers.cookie ?? "").split(/; */).map((pair) => {
    const equals = pair.indexOf("=");
    return [pair.slice(0, equals), pair.slice(equals + 1)] as const;
  });
  return new Map(pairs);
}

function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}

function connectionCounter(): (socket: Socket) => number {
  const known = new WeakMap<Socket, number>();
  let count = 0;
  return (socket) => {
    const connection = known.get(socket) ?? ++count;
    known.set(socket, connection);
    return connection;
  };
}

function listen(server: Server, port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) =>
      reject(
        new TrawlError("BAD_USAGE", {
          op: "demo.listen",
          message: `the demo shop cannot listen on ${host}:${port} (${cause.message}); choose another port`,
          detail: { host, port },
          cause,
        }),
      ),
    );
    server.listen(port, host, () => {
      const { port: actual } = server.address() as AddressInfo;
      resolve(`http://${host.includes(":") ? `[${host}]` : host}:${actual}`);
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // The error of the callback is ignored: it only means that the server was already closed.
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
