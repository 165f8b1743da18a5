/** The request of a task. Most tasks have none: they are a GET of their URL. */
import { hash } from "node:crypto";

export const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
export type Method = (typeof METHODS)[number];

export type TaskRequest = {
  method: Method;
  /** Names in lower case. They are sent only to the URL of the task. */
  headers?: Readonly<Record<string, string>>;
  body?: string;
  /** The reference of a large body, which is stored in TRAWL_BODIES (store/bodies/request-bodies.ts). */
  bodyRef?: string;
  /** Set if a redirect in a session leads to this task: the URL at which the redirects began. */
  redirectedFrom?: string;
  /** The number of the session that was redirected. */
  session?: number;
};

/** The broker stores bodies of up to this size with the task. Larger bodies are stored in TRAWL_BODIES. */
export const MAX_TASK_BODY = 65_536;
/** The maximum of TRAWL_REQUEST_BODY_BYTES. */
export const MAX_REQUEST_BODY = 100_000_000;

/** The settings that limit request bodies. `bodies`: undefined if the body is not queued. */
export type BodySettings = { requestBodyBytes: number; bodies: string | undefined };

/** Why a body of this size cannot be sent; undefined if it can. */
export function bodyProblem(bytes: number, { requestBodyBytes, bodies }: BodySettings): string | undefined {
  if (bytes > requestBodyBytes) {
    return `the body has ${bytes} bytes, more than the limit of ${requestBodyBytes}; raise TRAWL_REQUEST_BODY_BYTES`;
  }
  if (bytes <= MAX_TASK_BODY || bodies !== "none") return undefined;
  return `the body has ${bytes} bytes, and bodies of more than ${MAX_TASK_BODY} bytes are stored in TRAWL_BODIES, which is none; set TRAWL_BODIES to a folder that all workers share, such as file:.trawl/bodies`;
}

/** Whether the body is stored in TRAWL_BODIES and not with the task. */
export function isLargeBody({ body }: Pick<TaskRequest, "body">): boolean {
  // A character has at most three bytes, so most bodies need not be measured.
  return body !== undefined && body.length * 3 > MAX_TASK_BODY && Buffer.byteLength(body) > MAX_TASK_BODY;
}

/** The reference of a body: the hash of its content. */
export function bodyRefOf(body: string): string {
  return `${REF_PREFIX}${hash("sha256", body)}`;
}

const REF_PREFIX = "sha256:";

/**
 * Distinguishes requests with the same URL for dedup: the method, and a hash of the body. Undefined for a GET without a
 * body. Headers do not count. A body and its reference give equal marks.
 */
export function requestMark({ method, body, bodyRef }: TaskRequest): string | undefined {
  if (method === "GET" && body === undefined) return undefined;
  const name = method.toLowerCase();
  const ref = bodyRef ?? (body === undefined ? undefined : bodyRefOf(body));
  return ref === undefined ? name : `${name}-${ref.slice(REF_PREFIX.length, REF_PREFIX.length + 16)}`;
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
