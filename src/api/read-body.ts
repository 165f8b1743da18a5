/** Request bodies: JSON is parsed, the stream types of a route are passed to its handler, other types are refused. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { TrawlError } from "../errors.ts";
import type { ApiRoute } from "./route.ts";

const JSON_TYPE = "application/json";
/** Maximum length of the quoted body in an error message. A message of V8 may quote a large part of the body. */
const QUOTED_CHARS = 300;

export function readBodies(app: FastifyInstance, routes: readonly ApiRoute[]): void {
  // Refuses __proto__ and constructor, which could change the prototype of objects.
  const parse = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(JSON_TYPE, { parseAs: "string" }, (request, body, done) => {
    // Many clients send this content type with an empty body, for example to pause a job.
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

/** Throws BAD_REQUEST for a compressed body: the server does not decompress. */
export function checkCoding({ headers }: FastifyRequest): void {
  const coding = headers["content-encoding"];
  if (coding === undefined || coding === "identity") return;
  throw unread(`content-encoding: ${coding} is not supported; send the body uncompressed, without this header`);
}

export function wrongType({ headers }: FastifyRequest, takes: readonly string[]): TrawlError {
  const type = headers["content-type"];
  const found = type === undefined ? "is missing" : `is ${type.slice(0, QUOTED_CHARS)}`;
  return unread(`content-type: ${found}; this route takes ${takes.join(" or ")}`);
}

function badJson(text: string): TrawlError {
  try {
    JSON.parse(text);
    return unread("body: contains the key __proto__ or constructor; remove it");
  } catch (error) {
    return unread(`body: is not JSON: ${(error as Error).message.slice(0, QUOTED_CHARS)}`);
  }
}

function unread(message: string): TrawlError {
  return new TrawlError("BAD_REQUEST", { op: "api.read", message });
}
