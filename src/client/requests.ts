/**
 * Sends requests, with retries after a lost connection. Only requests that have no effect the second time are repeated:
 * reads, jobs under an idempotency key, and URLs, which count as duplicates. All other requests are repeated only if
 * they cannot have reached the server.
 */
import { ApiError, unreachable } from "./api-error.ts";

export type ConnectOptions = {
  /** An API key, if the server requires one. */
  key?: string;
  /** Used instead of the global fetch. */
  fetch?: typeof fetch;
  /** Attempts per request while the server is unreachable or stopping. Default: 7, within 16 s. */
  tries?: number;
  /** Called before each retry. */
  onWait?: (error: unknown, ms: number) => void;
};

export type Send = {
  method?: string;
  body?: unknown;
  /** The request body as application/x-ndjson, used instead of `body`. */
  lines?: string;
  /** The request would have an effect the second time, so it is repeated only if it cannot have reached the server. */
  isOnce?: boolean;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
};

export type Requests = {
  /** The response as JSON. Throws ApiError. */
  json<T>(path: string, send?: Send): Promise<T>;
  /** The successful response. Throws ApiError. */
  raw(path: string, send?: Send): Promise<Response>;
};

/** The default number of attempts, enough for the restart of a server. */
const TRIES = 7;
const FIRST_WAIT_MS = 250;
/** The longest wait. If the server requests a longer wait, the error is thrown to the caller. */
const MAX_WAIT_MS = 10_000;
const TEMPORARY = [429, 502, 503];

export function createRequests(base: string, { key, fetch: own, tries = TRIES, onWait }: ConnectOptions): Requests {
  const root = base.replace(/\/+$/, "");
  // `fetch` is called as a plain function, because browsers refuse to call it as a method of another object.
  const doFetch = own ?? ((...args: Parameters<typeof fetch>) => fetch(...args));

  async function once(path: string, { method = "GET", body, lines, headers = {}, signal }: Send): Promise<Response> {
    const type = lines !== undefined ? "application/x-ndjson" : body !== undefined ? "application/json" : undefined;
    const response = await doFetch(root + path, {
      method,
      headers: {
        ...headers,
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(type === undefined ? {} : { "content-type": type }),
      },
      ...(type === undefined ? {} : { body: lines ?? JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (response.ok) return response;
    throw new ApiError(response.status, await problemIn(response));
  }

  async function withRetries<T>(send: Send, work: () => Promise<T>): Promise<T> {
    for (let left = tries - 1, waitMs = FIRST_WAIT_MS; ; left -= 1, waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
      try {
        return await work();
      } catch (error) {
        const requestedMs = retryAfterMs(error);
        if (left <= 0 || !isTemporary(error, send) || requestedMs > MAX_WAIT_MS)
          throw error instanceof TypeError ? unreachable(root, error) : error;
        const pauseMs = Math.max(waitMs, requestedMs);
        onWait?.(error, pauseMs);
        await pause(pauseMs, send.signal);
      }
    }
  }

  return {
    raw: (path, send = {}) => withRetries(send, () => once(path, send)),
    // The body is read inside the retry, because the connection may break while it is received.
    json: <T>(path: string, send: Send = {}) =>
      withRetries(send, async () => (await (await once(path, send)).json()) as T),
  };
}

function isTemporary(error: unknown, { isOnce = false }: Send): boolean {
  // With `taken`, part of a list was processed. The caller continues from there.
  if (error instanceof ApiError)
    return !isOnce && TEMPORARY.includes(error.status) && error.problem.taken === undefined;
  if (!(error instanceof TypeError)) return false;
  return !isOnce || (error.cause as { code?: string } | undefined)?.code === "ECONNREFUSED";
}

function retryAfterMs(error: unknown): number {
  return error instanceof ApiError ? Number(error.problem.retryAfterMs ?? 0) || 0 : 0;
}

/** Waits `ms`. Rejects with the signal's reason when it aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal?.aborted === true) return resolve();
    const timer = setTimeout(wake, ms);
    function wake(): void {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
      resolve();
    }
    signal?.addEventListener("abort", wake, { once: true });
  });
  signal?.throwIfAborted();
}

async function problemIn(response: Response): Promise<Record<string, unknown>> {
  const retryAfter = response.headers.get("retry-after");
  const waits = retryAfter === null ? {} : { retryAfterMs: Number(retryAfter) * 1000 };
  try {
    return { ...waits, ...((await response.json()) as Record<string, unknown>) };
  } catch {
    return { ...waits, detail: `the server returned ${response.status} without a problem document of this API` };
  }
}
