/**
 * A route of the API as data: the server validates requests with it, openapi.ts describes it, and tests call it. The
 * scope is a required field, so that no route is open by mistake.
 */
import type { Readable } from "node:stream";
import type { z } from "zod";
import type { Caller } from "../control/caller.ts";
import type { Scope } from "../domain/api-key.ts";

type JsonResponse = { status: number; body: unknown; headers?: Readonly<Record<string, string>> };
/** `json`: the encoded body, for a response that is sent many times. */
type EncodedResponse = { status: number; json: Uint8Array; headers?: Readonly<Record<string, string>> };
export type StreamResponse = {
  status: number;
  type: string;
  stream: AsyncIterable<string | Uint8Array>;
  headers?: Readonly<Record<string, string>>;
};
export type ApiResponse = JsonResponse | EncodedResponse | StreamResponse;

/** A response: JSON with this schema, or bytes of these types. */
export type ResponseShape = { description: string; json?: z.ZodType; types?: readonly string[] };

export type ApiRequest<Params = unknown, Query = unknown, Body = unknown> = {
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

export type ApiRoute = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Parameters with a colon: `/v1/jobs/:id`. */
  path: string;
  /** The scope that the key must have. `open` routes need no key. */
  scope: Scope | "open";
  tag: string;
  summary: string;
  /** The route is not part of the API reference. */
  isHidden?: true;
  /** A longer description for the API reference. */
  description?: string;
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** The route submits URLs, and gets a span in traces. */
  isSubmission?: true;
  /** Content types that are read as a stream of any length. */
  streams?: readonly string[];
  /** An example body for the API reference. Tests send it. */
  example?: unknown;
  responses: Readonly<Record<number, ResponseShape>>;
  handle(request: ApiRequest): Promise<ApiResponse>;
};

type Parsed<T> = T extends z.ZodType ? z.output<T> : undefined;

type RouteOf<P, Q, B> = Omit<ApiRoute, "params" | "query" | "body" | "handle"> & {
  params?: P;
  query?: Q;
  body?: B;
  handle(request: ApiRequest<Parsed<P>, Parsed<Q>, Parsed<B>>): Promise<ApiResponse>;
};

/** Defines a route. The schemas of the route determine the types of its handler. */
export function defineRoute<
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(route: RouteOf<P, Q, B>): ApiRoute {
  return route as unknown as ApiRoute;
}

export function isStream(response: ApiResponse): response is StreamResponse {
  return "stream" in response;
}
