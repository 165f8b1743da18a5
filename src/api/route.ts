/**
 * A route of the API, with everything there is to say of it: the server checks requests by it, openapi.ts describes it,
 * and tests try it from outside. A route without a scope does not compile.
 */
import type { Readable } from "node:stream";
import type { z } from "zod";
import type { Quotas, Scope } from "../domain/api-key.ts";

/** Who asks. Jobs of one tenant do not exist for another; without keys there is one, who may do everything. */
export type Caller = {
  tenant: string | undefined;
  keyId: string | undefined;
  scopes: readonly Scope[];
  /** Of a key of the book; the keys of the settings have none. */
  quotas?: Quotas;
};

export type JsonAnswer = { status: number; body: unknown; headers?: Readonly<Record<string, string>> };
export type StreamAnswer = {
  status: number;
  type: string;
  stream: AsyncIterable<string | Uint8Array>;
  headers?: Readonly<Record<string, string>>;
};
export type Answer = JsonAnswer | StreamAnswer;

/** What a route answers with: JSON of a shape, or bytes of these types. */
export type AnswerShape = { says: string; json?: z.ZodType; types?: readonly string[] };

export type Asked<Params = unknown, Query = unknown, Body = unknown> = {
  params: Params;
  query: Query;
  /** Checked; or the stream itself, where it came as one of the route's `streams`. */
  body: Body;
  /** Present where the body is to be read as it comes. */
  stream: Readable | undefined;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  caller: Caller;
  requestId: string;
  /** Aborts when the client has gone, or the server is to stop. */
  signal: AbortSignal;
};

export type Route = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Parameters with a colon: `/v1/jobs/:id`. */
  path: string;
  /** What its key must be good for. `open` routes ask for none. */
  scope: Scope | "open";
  tag: string;
  summary: string;
  /** Not of the API: its description leaves it out. */
  isHidden?: true;
  /** More of it, where one line is not enough. */
  says?: string;
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** A trace has a span of it: jobs come of it. */
  isSubmission?: true;
  /** Types of bodies that are read as they come, however long. */
  streams?: readonly string[];
  /** A body for the docs, and for the tests that run what the docs say. */
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

/** The same route, its handler knowing the types of what is checked before it is called. */
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
