/**
 * The HTTP server of the API. Every response has the request id, and every error response is a problem document with a
 * code of the error catalogue. The server keeps no state between requests: any number of instances can use one broker
 * and store.
 */
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import type { Caller } from "../control/caller.ts";
import { isTrawlError, TrawlError } from "../errors.ts";
import { listenError } from "../runtime/listen-error.ts";
import type { Log } from "../runtime/log.ts";
import { parseTraceparent, requestIdOfTrace } from "../runtime/trace-ids.ts";
import { type SpanAttributes, type Tracing, traceSubmission } from "../runtime/tracing.ts";
import type { Authenticator } from "./authenticator.ts";
import { API_HEADERS, originProblem } from "./browser-security.ts";
import { EVENT_STREAM } from "./events/sse.ts";
import { extendIdleTimeout } from "./idle-timeout.ts";
import type { ServerMeter } from "./metrics/server-meter.ts";
import { problemOf } from "./problem.ts";
import { checkCoding, readBodies, wrongType } from "./read-body.ts";
import { type ApiRequest, type ApiResponse, type ApiRoute, isStream, type StreamResponse } from "./route.ts";
import { validate } from "./validate.ts";
import type { SubmissionOut } from "./wire/jobs.ts";

type ApiServerDeps = {
  routes: readonly ApiRoute[];
  authenticator: Pick<Authenticator, "identify" | "wasOpen">;
  tracing: Tracing;
  meter: Pick<ServerMeter, "answered" | "followed">;
  log: Log;
};

type ApiServerOptions = {
  host: string;
  port: number;
  bodyBytes: number;
  /** How long requests in progress may take after `stop`. */
  graceMs: number;
};

export type ApiServer = {
  /** Resolves with the address when the server listens. */
  start(): Promise<{ url: string }>;
  /** Finishes requests in progress, refuses new ones, and closes the server. */
  stop(): Promise<void>;
  isDraining(): boolean;
};

/** A connection without traffic for this long is closed. */
const IDLE_MS = 60_000;
const HEADERS_MS = 15_000;
const SWEEP_MS = 50;
/** How long a refused client that is still sending its body can read the response. */
const LINGER_MS = 1_000;
/** How often the key of an open stream is checked. */
const KEY_CHECK_MS = 1_000;
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

export function createApiServer(
  { routes, authenticator, meter, tracing, log }: ApiServerDeps,
  options: ApiServerOptions,
): ApiServer {
  const stopping = new AbortController();
  const inProgress = new Set<AbortController>();
  const callers = new WeakMap<FastifyRequest, Caller>();
  const app = fastify({
    bodyLimit: options.bodyBytes,
    genReqId: ({ headers }) => requestIdOf(headers, tracing.isOn),
    requestIdHeader: false,
    connectionTimeout: IDLE_MS,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    // Hooks do not run for a path that cannot be parsed, so the headers are added here.
    frameworkErrors: (error, request, reply) => void refuse(error, request, withHeaders(reply, request)),
    routerOptions: { maxParamLength: 2_000, ignoreTrailingSlash: true },
  });
  app.server.headersTimeout = HEADERS_MS;
  app.server.requestTimeout = 0; // sending a list of millions of URLs may take long; only an idle connection is closed
  readBodies(app, routes);
  app.addHook("onRequest", async (request, reply) => {
    withHeaders(reply, request);
    const problem = originProblem(request, { isOpen: authenticator.wasOpen() });
    if (problem !== undefined) throw new TrawlError("FORBIDDEN", { op: "api.origin", message: problem });
    checkCoding(request);
  });
  app.addHook("onResponse", async (request, reply) => {
    const isFollowed = String(reply.getHeader("content-type")).startsWith(EVENT_STREAM);
    const { statusCode: status, elapsedTime: ms } = reply;
    const { method, url } = request;
    meter.answered({ method, route: request.routeOptions.url, status, ms, isFollowed });
    if (!log.isOn("debug")) return;
    const { keyId, tenant } = callers.get(request) ?? ANONYMOUS;
    log.debug("api.answered", { requestId: request.id, method, url, status, ms, keyId, tenant });
  });
  app.setErrorHandler((error, request, reply) => refuse(error, request, reply));
  app.setNotFoundHandler((request, reply) => refuse(missing(request, routes), request, reply));
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.path,
      // A HEAD request would wait for the end of an event stream.
      exposeHeadRoute: !Object.values(route.responses).some(({ types = [] }) => types.includes(EVENT_STREAM)),
      // Runs before the body is read: the server must not parse bodies of unauthorized callers.
      onRequest: async (request) => void callers.set(request, await callerOf(request, route)),
      handler: (request, reply) => respond(route, request, reply),
    });
  }

  async function respond(route: ApiRoute, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const caller = callers.get(request) ?? ANONYMOUS;
    const closing = closeControllerOf(reply);
    const handle = () => route.handle(parseRequest(route, request, caller, closing.signal));
    const response = await (route.isSubmission === true ? traced(route, request, handle) : handle());
    if (isStream(response)) {
      endWithKey(route, request, reply, closing);
      extendIdleTimeout(reply.raw);
    }
    if (isStream(response) && response.type.startsWith(EVENT_STREAM)) {
      meter.followed(1);
      reply.raw.once("close", () => meter.followed(-1));
    }
    return send(reply, response);
  }

  function traced(route: ApiRoute, { id: requestId, headers }: FastifyRequest, handle: () => Promise<ApiResponse>) {
    const from = parseTraceparent(headers.traceparent);
    const attributes = { "http.request.method": route.method, "http.route": route.path };
    return traceSubmission(tracing, { requestId, from, attributes, toAttributes: spanAttributesOf }, handle);
  }

  /** Ends a stream when its key is revoked or expires. */
  function endWithKey(route: ApiRoute, request: FastifyRequest, { raw }: FastifyReply, closing: AbortController): void {
    const timer = setInterval(async () => {
      try {
        await callerOf(request, route);
      } catch (error) {
        // Other errors do not end the stream: the store may be unreachable for a moment.
        if (isTrawlError(error, "UNAUTHORIZED", "FORBIDDEN")) closing.abort(error);
      }
    }, KEY_CHECK_MS);
    raw.once("close", () => clearInterval(timer));
  }

  /**
   * The controller of a request. It aborts when the client disconnects or the server stops. AbortSignal.any is not
   * used, because the server's own signal would keep a reference to every request.
   */
  function closeControllerOf({ raw }: FastifyReply): AbortController {
    const closing = new AbortController();
    inProgress.add(closing);
    raw.once("close", () => {
      inProgress.delete(closing);
      closing.abort(GONE);
    });
    if (stopping.signal.aborted) closing.abort(stopping.signal.reason);
    return closing;
  }

  async function callerOf(request: FastifyRequest, { scope }: ApiRoute): Promise<Caller> {
    if (scope === "open") return ANONYMOUS;
    const caller = await authenticator.identify(request);
    if (caller.scopes.includes(scope)) return caller;
    throw new TrawlError("FORBIDDEN", {
      op: "api.scope",
      message: `this key has the scopes ${caller.scopes.join(", ") || "none"}; this route requires ${scope}`,
      detail: { scope },
    });
  }

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { problem, isInternal } = problemOf(error, request.id);
    // If the client disconnects while it sends the body, the failed read is not an error of the server.
    const isGone = request.raw.destroyed && !request.raw.complete;
    if (isInternal && !isGone) log.error("api.failed", { requestId: request.id, url: request.url, cause: error });
    const { allow } = problem as { allow?: readonly string[] };
    if (allow !== undefined) reply.header("allow", allow.join(", "));
    const { retryAfterMs } = problem as { retryAfterMs?: number };
    if (retryAfterMs !== undefined) reply.header("retry-after", String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
    if (problem.status === 401) reply.header("www-authenticate", "Bearer");
    // On a kept connection, the unread rest of the body would be parsed as the next request.
    if (!request.raw.complete) {
      reply.header("connection", "close");
      linger(request.raw.socket);
    }
    return reply.code(problem.status).type("application/problem+json").send(JSON.stringify(problem));
  }

  return {
    async start() {
      const { host, port } = options;
      try {
        return { url: await app.listen({ host, port }) };
      } catch (error) {
        throw listenError(error as NodeJS.ErrnoException, { ...LISTENING, host, port });
      }
    },
    async stop() {
      stopping.abort(
        new TrawlError("STOPPING", { op: "api.stop", message: "the server is stopping; send the request again" }),
      );
      for (const closing of inProgress) closing.abort(stopping.signal.reason);
      const late = setTimeout(() => app.server.closeAllConnections(), options.graceMs);
      // Keep-alive connections stay open after their last response, so idle connections are closed repeatedly.
      const sweeping = setInterval(() => app.server.closeIdleConnections(), SWEEP_MS);
      await app.close();
      clearInterval(sweeping);
      clearTimeout(late);
    },
    isDraining: () => stopping.signal.aborted,
  };
}

const LISTENING = {
  op: "api.listen",
  taken:
    "another process, perhaps trawl serve or trawl up, listens on it; choose another --port, or start only workers with: trawl up --no-serve",
  check: "--host (TRAWL_API_HOST) and --port (TRAWL_API_PORT)",
};

/**
 * Delays the close of a connection with unread data. Closing it at once would reset it, and a client that still sends
 * would not see the response.
 */
function linger(socket: FastifyRequest["socket"]): void {
  socket.destroySoon = () => {
    socket.end();
    const late = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(late));
  };
}

function withHeaders(reply: FastifyReply, { id }: Pick<FastifyRequest, "id">): FastifyReply {
  return reply.headers({ ...API_HEADERS, "x-request-id": id });
}

const ANONYMOUS: Caller = { tenant: undefined, keyId: undefined, scopes: [] };
/** An abort reason, never read. Without it, every request would create a DOMException with a stack trace. */
const GONE = "the client has disconnected";

/** If tracing is on, the trace id has precedence over the header X-Request-Id, which a proxy may have added. */
function requestIdOf({ "x-request-id": given, traceparent }: FastifyRequest["headers"], isTraced: boolean): string {
  const from = parseTraceparent(traceparent);
  const own = typeof given === "string" && REQUEST_ID.test(given) ? given : undefined;
  if (from !== undefined && (isTraced || own === undefined)) return requestIdOfTrace(from);
  return own ?? `r${randomUUID()}`;
}

/** Attributes of the span of a submission. */
function spanAttributesOf(response: ApiResponse): SpanAttributes {
  const { id, accepted, duplicates } = ("body" in response ? response.body : {}) as Partial<SubmissionOut>;
  const counts = { "trawl.urls.accepted": accepted, "trawl.urls.duplicate": duplicates };
  return { "http.response.status_code": response.status, "trawl.job.id": id, ...counts };
}

/** The validated request for the handler of a route. Throws BAD_REQUEST. */
function parseRequest(route: ApiRoute, request: FastifyRequest, caller: Caller, signal: AbortSignal): ApiRequest {
  const stream = request.body instanceof Readable ? request.body : undefined;
  if (stream !== undefined && !route.streams?.includes(typeOf(request))) {
    throw wrongType(request, ["application/json", ...(route.streams ?? [])]);
  }
  return {
    params: validate(route.params, request.params, "path"),
    query: validate(route.query, request.query, "query"),
    body: stream === undefined ? validate(route.body, request.body, "body") : undefined,
    stream,
    headers: request.headers,
    caller,
    requestId: request.id,
    signal,
  };
}

function typeOf({ headers }: FastifyRequest): string {
  return (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

function send(reply: FastifyReply, response: ApiResponse): FastifyReply {
  reply.code(response.status).headers(response.headers ?? {});
  if (isStream(response)) return reply.type(response.type).send(readableOf(response.stream));
  return reply
    .type("application/json; charset=utf-8")
    .send("json" in response ? response.json : JSON.stringify(response.body));
}

/**
 * A Readable is passed to Fastify unchanged: Fastify destroys it as soon as the client disconnects, even if it is idle.
 */
function readableOf(stream: StreamResponse["stream"]): Readable {
  return stream instanceof Readable ? stream : Readable.from(stream, { objectMode: false });
}

function missing({ method, url }: FastifyRequest, routes: readonly ApiRoute[]): TrawlError {
  const path = url.split("?", 1)[0] ?? url;
  const others = routes.filter((route) => patternOf(route.path).test(path)).map((route) => route.method);
  if (others.length > 0) {
    return new TrawlError("METHOD_NOT_ALLOWED", {
      op: "api.route",
      message: `there is no ${method} ${path}; this path takes ${others.join(", ")}`,
      detail: { allow: others },
    });
  }
  const message = `there is no ${method} ${path}; see /docs or /openapi.json`;
  return new TrawlError("NOT_FOUND", { op: "api.route", message });
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/:\w+/g, "[^/]+").replaceAll(".", "\\.")}/?$`);
}
