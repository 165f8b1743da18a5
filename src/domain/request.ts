/** The request of a task. Most tasks have none: they are a GET of their URL. */
import { hash } from "node:crypto";

export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
export type Method = (typeof METHODS)[number];

export type TaskRequest = {
  method: Method;
  /** Names in lower case. They are sent only to the URL of the task. */
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** Set if a redirect in a session leads to this task: the URL at which the redirects began. */
  redirectedFrom?: string;
  /** The number of the session that was redirected. */
  session?: number;
};

/** Longer bodies are refused, because the broker stores them. */
export const MAX_REQUEST_BODY = 65_536;

/**
 * Distinguishes requests with the same URL for dedup: the method, and a hash of the body. Undefined for a GET without a
 * body. Headers do not count.
 */
export function requestMark({ method, body }: TaskRequest): string | undefined {
  if (method === "GET" && body === undefined) return undefined;
  const name = method.toLowerCase();
  return body === undefined ? name : `${name}-${hash("sha256", body).slice(0, 16)}`;
}

/** Whether a request may be sent twice without an effect on the site (RFC 9110, 9.2.1). */
export function isSafe(method: Method): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}

/**
 * The request for the target of a redirect, as browsers send it: 303, and 301 or 302 after a POST, lead to a GET
 * without a body. Other redirects repeat the request. `headers` are dropped if the target has another origin.
 */
export function requestAfterRedirect(
  request: TaskRequest | undefined,
  status: number,
  isSameOrigin: boolean,
): TaskRequest | undefined {
  if (request === undefined) return undefined;
  const becomesGet = (status === 303 && request.method !== "HEAD") || (status <= 302 && request.method === "POST");
  const { body, headers, ...rest } = becomesGet ? { ...asGet(request) } : request;
  const { redirectedFrom: _, session: __, ...plain } = rest;
  const next: TaskRequest = {
    ...plain,
    ...(headers === undefined || !isSameOrigin ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
  };
  return next.method === "GET" && next.headers === undefined && next.body === undefined ? undefined : next;
}

/** Headers that describe the body. They are dropped together with it. */
const BODY_HEADERS = new Set(["content-type", "content-encoding", "content-language", "content-location"]);

function asGet({ headers }: TaskRequest): TaskRequest {
  const kept = Object.entries(headers ?? {}).filter(([name]) => !BODY_HEADERS.has(name));
  return { method: "GET", ...(kept.length === 0 ? {} : { headers: Object.fromEntries(kept) }) };
}
