/**
 * The control plane's HTTP server: routes behind one set of rules. Every answer carries the request's id, every error is
 * a problem of the catalogue, and nothing waits for work to be done. It keeps nothing between two requests: any number of
 * them run side by side on one broker and store.
 */
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { isTrawlError, TrawlError } from "../errors.ts";
import { cannotListen } from "../runtime/cannot-listen.ts";
import type { Log } from "../runtime/log.ts";
import { parseTraceparent, requestIdOfTrace } from "../runtime/trace-ids.ts";
import { type SpanWords, type Tracing, traceSubmission } from "../runtime/tracing.ts";
import { bearSilence } from "./bear-silence.ts";
import { check } from "./check.ts";
import { EVENT_STREAM } from "./events/sse.ts";
import type { Gate } from "./keys/gate.ts";
import { problemOf } from "./problem.ts";
import { checkCoding, readBodies, wrongType } from "./read-body.ts";
import { type Answer, type Asked, type Caller, isStream, type Route, type StreamAnswer } from "./route.ts";
import { API_HEADERS, originProblem } from "./safety.ts";
import type { ServerMeter } from "./server-meter.ts";
import type { SubmissionOut } from "./wire-types.ts";

export type ApiServerDeps = {
  routes: readonly Route[];
  gate: Pick<Gate, "identify" | "wasOpen">;
  tracing: Tracing;
  meter: Pick<ServerMeter, "answered" | "followed">;
  log: Log;
};

export type ApiServerOptions = {
  host: string;
  port: number;
  bodyBytes: number;
  /** How long requests under way may take once it is to stop. */
  graceMs: number;
};

export type ApiServer = {
  /** Resolves with its address when it listens. */
  start(): Promise<{ url: string }>;
  /** Answers what is under way, refuses what is new, and closes. */
  stop(): Promise<void>;
  isDraining(): boolean;
};

/** A client that sends or takes nothing for so long has gone. */
const SILENCE_MS = 60_000;
const HEADERS_MS = 15_000;
const SWEEP_MS = 50;
/** How long a client that was refused while it was sending has to read why. */
const LINGER_MS = 1_000;
/** How often the key of a stream is looked at again. */
const KEY_AGAIN_MS = 1_000;
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

export function createApiServer(
  { routes, gate, meter, tracing, log }: ApiServerDeps,
  options: ApiServerOptions,
): ApiServer {
  const stopping = new AbortController();
  const underWay = new Set<AbortController>();
  const callers = new WeakMap<FastifyRequest, Caller>();
  const app = fastify({
    bodyLimit: options.bodyBytes,
    genReqId: ({ headers }) => requestIdOf(headers, tracing.isOn),
    requestIdHeader: false,
    connectionTimeout: SILENCE_MS,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    // Of a path that cannot be read no hook hears.
    frameworkErrors: (error, request, reply) => void refuse(error, request, withHeaders(reply, request)),
    routerOptions: { maxParamLength: 2_000, ignoreTrailingSlash: true },
  });
  app.server.headersTimeout = HEADERS_MS;
  app.server.requestTimeout = 0; // lists of millions take as long as they take; silence is what ends them
  readBodies(app, routes);
  app.addHook("onRequest", async (request, reply) => {
    withHeaders(reply, request);
    const problem = originProblem(request, { isOpen: gate.wasOpen() });
    if (problem !== undefined) throw new TrawlError("FORBIDDEN", { op: "api.origin", message: problem });
    checkCoding(request);
  });
  app.addHook("onResponse", async (request, reply) => {
    const isFollowed = String(reply.getHeader("content-type")).startsWith(EVENT_STREAM);
    const { statusCode: answered, elapsedTime } = reply;
    const route = request.routeOptions.url;
    meter.answered({ method: request.method, route, status: answered, ms: elapsedTime, isFollowed });
    if (!log.isOn("debug")) return;
    const { keyId, tenant } = callers.get(request) ?? NOBODY;
    const { id: requestId, method, url } = request;
    log.debug("api.answered", {
      requestId,
      method,
      url,
      status: reply.statusCode,
      ms: reply.elapsedTime,
      keyId,
      tenant,
    });
  });
  app.setErrorHandler((error, request, reply) => refuse(error, request, reply));
  app.setNotFoundHandler((request, reply) => refuse(missing(request, routes), request, reply));
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.path,
      // A HEAD would read a stream of events to its end, which it has not.
      exposeHeadRoute: !Object.values(route.answers).some(({ types = [] }) => types.includes(EVENT_STREAM)),
      // Before anything of the body is read: strangers must not make us parse.
      onRequest: async (request) => void callers.set(request, await callerOf(request, route)),
      handler: (request, reply) => answer(route, request, reply),
    });
  }

  async function answer(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const caller = callers.get(request) ?? NOBODY;
    const leaving = leavingOf(reply);
    const handle = () => route.handle(asked(route, request, caller, leaving.signal));
    const answer = await (route.isSubmission === true ? traced(route, request, handle) : handle());
    if (isStream(answer)) {
      endWithKey(route, request, reply, leaving);
      bearSilence(reply.raw);
    }
    if (isStream(answer) && answer.type.startsWith(EVENT_STREAM)) {
      meter.followed(1);
      reply.raw.once("close", () => meter.followed(-1));
    }
    return send(reply, answer);
  }

  function traced(route: Route, { id: requestId, headers }: FastifyRequest, handle: () => Promise<Answer>) {
    const from = parseTraceparent(headers.traceparent);
    const words = { "http.request.method": route.method, "http.route": route.path };
    return traceSubmission(tracing, { requestId, from, words, tell: toldOf }, handle);
  }

  /** Streams of events have no end of their own: they end when their key does. */
  function endWithKey(route: Route, request: FastifyRequest, { raw }: FastifyReply, leaving: AbortController): void {
    const timer = setInterval(async () => {
      try {
        await callerOf(request, route);
      } catch (error) {
        // A store that is away takes no key from anybody.
        if (isTrawlError(error, "UNAUTHORIZED", "FORBIDDEN")) leaving.abort(error);
      }
    }, KEY_AGAIN_MS);
    raw.once("close", () => clearInterval(timer));
  }

  /** Not by AbortSignal.any: the server's own signal would remember every request it ever had. */
  function leavingOf({ raw }: FastifyReply): AbortController {
    const leaving = new AbortController();
    underWay.add(leaving);
    raw.once("close", () => {
      underWay.delete(leaving);
      leaving.abort(GONE);
    });
    if (stopping.signal.aborted) leaving.abort(stopping.signal.reason);
    return leaving;
  }

  async function callerOf(request: FastifyRequest, { scope }: Route): Promise<Caller> {
    if (scope === "open") return NOBODY;
    const caller = await gate.identify(request);
    if (caller.scopes.includes(scope)) return caller;
    throw new TrawlError("FORBIDDEN", {
      op: "api.scope",
      message: `this key may ${caller.scopes.join(", ") || "do nothing"}; what was asked for takes ${scope}`,
      detail: { scope },
    });
  }

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { problem, isOurs } = problemOf(error, request.id);
    // Whoever goes in the middle of a body has nobody to blame here, and hears nothing of it.
    const isGone = request.raw.destroyed && !request.raw.complete;
    if (isOurs && !isGone) log.error("api.failed", { requestId: request.id, url: request.url, cause: error });
    const { allow } = problem as { allow?: readonly string[] };
    if (allow !== undefined) reply.header("allow", allow.join(", "));
    const { retryAfterMs } = problem as { retryAfterMs?: number };
    if (retryAfterMs !== undefined) reply.header("retry-after", String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
    if (problem.status === 401) reply.header("www-authenticate", "Bearer");
    // What is left of a body that nobody reads would be taken for the next request.
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
        throw cannotListen(error as NodeJS.ErrnoException, { ...LISTENING, host, port });
      }
    },
    async stop() {
      stopping.abort(new TrawlError("STOPPING", { op: "api.stop", message: "the server is stopping; ask again" }));
      for (const leaving of underWay) leaving.abort(stopping.signal.reason);
      const late = setTimeout(() => app.server.closeAllConnections(), options.graceMs);
      // What was under way leaves its connection open behind it, for a next request that will not come.
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
    "something listens there, perhaps another trawl serve or trawl up; choose another --port, or start workers alone with trawl up --no-serve",
  check: "--host (TRAWL_API_HOST) and --port (TRAWL_API_PORT)",
};

/**
 * A connection that is closed while something of it is unread is reset, and the client that still sends may never see the
 * answer: it gets a moment to.
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

const NOBODY: Caller = { tenant: undefined, keyId: undefined, scopes: [] };
/** Nobody reads it; without a reason every request would end with a DOMException and its stack. */
const GONE = "the client has gone";

/** Where traces are recorded, the trace that a request belongs to beats an id that a proxy may have given it on the way. */
function requestIdOf({ "x-request-id": given, traceparent }: FastifyRequest["headers"], isTraced: boolean): string {
  const from = parseTraceparent(traceparent);
  const own = typeof given === "string" && REQUEST_ID.test(given) ? given : undefined;
  if (from !== undefined && (isTraced || own === undefined)) return requestIdOfTrace(from);
  return own ?? `r${randomUUID()}`;
}

/** What a trace has of the answer to a submission. */
function toldOf(answer: Answer): SpanWords {
  const { id, accepted, duplicates } = ("body" in answer ? answer.body : {}) as Partial<SubmissionOut>;
  const counts = { "trawl.urls.accepted": accepted, "trawl.urls.duplicate": duplicates };
  return { "http.response.status_code": answer.status, "trawl.job.id": id, ...counts };
}

function asked(route: Route, request: FastifyRequest, caller: Caller, signal: AbortSignal): Asked {
  const stream = request.body instanceof Readable ? request.body : undefined;
  if (stream !== undefined && !route.streams?.includes(typeOf(request))) {
    throw wrongType(request, ["application/json", ...(route.streams ?? [])]);
  }
  return {
    params: check(route.params, request.params, "path"),
    query: check(route.query, request.query, "query"),
    body: stream === undefined ? check(route.body, request.body, "body") : undefined,
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

function send(reply: FastifyReply, answer: Answer): FastifyReply {
  reply.code(answer.status).headers(answer.headers ?? {});
  if (isStream(answer)) return reply.type(answer.type).send(readableOf(answer.stream));
  return reply.type("application/json; charset=utf-8").send(JSON.stringify(answer.body));
}

/** One that is readable goes as it is: it hears at once when the client has gone, also while it has nothing to say. */
function readableOf(stream: StreamAnswer["stream"]): Readable {
  return stream instanceof Readable ? stream : Readable.from(stream, { objectMode: false });
}

function missing({ method, url }: FastifyRequest, routes: readonly Route[]): TrawlError {
  const path = url.split("?", 1)[0] ?? url;
  const others = routes.filter((route) => patternOf(route.path).test(path)).map((route) => route.method);
  if (others.length > 0) {
    return new TrawlError("METHOD_NOT_ALLOWED", {
      op: "api.route",
      message: `nothing answers ${method} ${path}; there it takes ${others.join(", ")}`,
      detail: { allow: others },
    });
  }
  const message = `nothing answers ${method} ${path}; see /docs, or /openapi.json, for what there is`;
  return new TrawlError("NOT_FOUND", { op: "api.route", message });
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/:\w+/g, "[^/]+").replaceAll(".", "\\.")}/?$`);
}
