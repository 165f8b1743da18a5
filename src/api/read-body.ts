/** Bodies as they come in: JSON is parsed, what a route takes as a stream is left alone, everything else is refused. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { TrawlError } from "../errors.ts";
import type { Route } from "./route.ts";

const JSON_TYPE = "application/json";
/** A problem quotes no more of what was sent: V8 does, and a body may be large. */
const QUOTED_CHARS = 300;

export function readBodies(app: FastifyInstance, routes: readonly Route[]): void {
  // It refuses names that would reach into every object, such as __proto__.
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(JSON_TYPE, { parseAs: "string" }, (request, body, done) => {
    // Many clients name the type also where they send nothing, as to pause a job.
    if (body === "") return done(null, undefined);
    return parse(request, String(body), (error, value) => done(error === null ? null : badJson(String(body)), value));
  });
  for (const type of new Set(routes.flatMap(({ streams = [] }) => streams))) {
    app.addContentTypeParser(type, (_request, payload, done) => done(null, payload));
  }
  app.addContentTypeParser("*", (request, _payload, done) => {
    const isEmpty = request.headers["content-length"] === "0";
    done(isEmpty ? null : wrongType(request, [JSON_TYPE]), undefined);
  });
}

/** Throws BAD_REQUEST where a body is packed: the bytes of it would be taken for text. */
export function checkCoding({ headers }: FastifyRequest): void {
  const coding = headers["content-encoding"];
  if (coding === undefined || coding === "identity") return;
  throw unread(`content-encoding: a body in ${coding} is not read here; send it as it is, without the header`);
}

export function wrongType({ headers }: FastifyRequest, takes: readonly string[]): TrawlError {
  const type = headers["content-type"];
  const found = type === undefined ? "is missing" : `is ${type.slice(0, QUOTED_CHARS)}`;
  return unread(`content-type: ${found}; this takes ${takes.join(" or ")}`);
}

function badJson(text: string): TrawlError {
  try {
    JSON.parse(text);
    return unread("body: holds a name that is every object's, __proto__ or constructor; leave it out");
  } catch (error) {
    return unread(`body: is not JSON: ${(error as Error).message.slice(0, QUOTED_CHARS)}`);
  }
}

function unread(message: string): TrawlError {
  return new TrawlError("BAD_REQUEST", { op: "api.read", message });
}
