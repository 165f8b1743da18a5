/**
 * A route of the API as data: the server validates requests with it, openapi.ts describes it, and tests call it. A route
 * without a scope does not compile.
 */
import type { Readable } from "node:stream";
import type { z } from "zod";
import type { Caller } from "../control/caller.ts";
import type { Scope } from "../domain/api-key.ts";

type JsonAnswer = { status: number; body: unknown; headers?: Readonly<Record<string, string>> };
export type StreamAnswer = {
  status: number;
  type: string;
  stream: AsyncIterable<string | Uint8Array>;
  headers?: Readonly<Record<string, string>>;
};
export type Answer = JsonAnswer | StreamAnswer;

/** A response: JSON with this schema, or bytes of these types. */
export type AnswerShape = { says: string; json?: z.ZodType; types?: readonly string[] };

export type Asked<Params = unknown, Query = unknown, Body = unknown> = {
  params: Params;
  query: Query;
  /** Validated. Undefined if the body is a stream. */
  body: Body;
  /** Set if the content type is one of the route's `streams`. */
  stream: Readable | undefined;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  caller: Caller;
  requestId: string;
  /** Aborts when the client disconnects, or when the server stops. */
  signal: AbortSignal;
};

export type Route = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Parameters with a colon: `/v1/jobs/:id`. */
  path: string;
  /** The scope that the key must have. `open` routes need no key. */
  scope: Scope | "open";
  tag: string;
  summary: string;
  /** Not part of the API description. */
  isHidden?: true;
  /** The description in the API reference. */
  says?: string;
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** The route submits URLs, and gets a span in traces. */
  isSubmission?: true;
  /** Content types that are read as a stream of any length. */
  streams?: readonly string[];
  /** A body for the API reference. Tests send it. */
  example?: unknown;
  answers: Readonly<Record<number, AnswerShape>>;
  handle(asked: Asked): Promise<Answer>;
};

type Parsed<T> = T extends z.ZodType ? z.output<T> : undefined;

type RouteOf<P, Q, B> = Omit<Route, "params" | "query" | "body" | "handle"> & {
  params?: P;
  query?: Q;
  body?: B;
  handle(asked: Asked<Parsed<P>, Parsed<Q>, Parsed<B>>): Promise<Answer>;
};

/** Types the handler by the schemas of the route. */
export function defineRoute<
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(route: RouteOf<P, Q, B>): Route {
  return route as unknown as Route;
}

export function isStream(answer: Answer): answer is StreamAnswer {
  return "stream" in answer;
}
