/**
 * Requests to the API that outlive a lost connection. What is sent again changes nothing the second time: what is read,
 * jobs that are submitted under a key, URLs that are known already. The rest is sent once.
 */
import { ApiError, unreachable } from "./api-error.ts";

export type ConnectOptions = {
  /** An API key, where the server asks for one. */
  key?: string;
  /** In place of the global one. */
  fetch?: typeof fetch;
  /** How often a request is tried where the server cannot be reached, or is stopping: 7 times unless given, within 16 s. */
  tries?: number;
  /** Hears of each wait before another try. */
  onWait?: (error: unknown, ms: number) => void;
};

export type Send = {
  method?: string;
  body?: unknown;
  /** In place of a body: application/x-ndjson, which may be of any length. */
  lines?: string;
  /** To do it twice is not the same as once: it is sent again only where it cannot have arrived. */
  isOnce?: boolean;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
};

export type Requests = {
  /** The answer as JSON. Throws ApiError. */
  json<T>(path: string, send?: Send): Promise<T>;
  /** The answer as it is, if it is a good one. Throws ApiError. */
  raw(path: string, send?: Send): Promise<Response>;
};

/** A server that is killed and started again is back before these are over. */
const TRIES = 7;
const FIRST_WAIT_MS = 250;
/** The longest wait; a server that wants to be left alone for longer is heard by whoever called. */
const WAIT_MOST_MS = 10_000;
const PASSING = [429, 502, 503];

export function createRequests(base: string, { key, fetch: own, tries = TRIES, onWait }: ConnectOptions): Requests {
  const root = base.replace(/\/+$/, "");
  // Called as a function of its own: browsers refuse a fetch that hangs on another object.
  const ask = own ?? ((...words: Parameters<typeof fetch>) => fetch(...words));

  async function once(path: string, { method = "GET", body, lines, headers = {}, signal }: Send): Promise<Response> {
    const type = lines !== undefined ? "application/x-ndjson" : body !== undefined ? "application/json" : undefined;
    const answer = await ask(root + path, {
      method,
      headers: {
        ...headers,
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(type === undefined ? {} : { "content-type": type }),
      },
      ...(type === undefined ? {} : { body: lines ?? JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (answer.ok) return answer;
    throw new ApiError(answer.status, await problemIn(answer));
  }

  async function insisting<T>(send: Send, work: () => Promise<T>): Promise<T> {
    for (let left = tries - 1, waitMs = FIRST_WAIT_MS; ; left -= 1, waitMs = Math.min(waitMs * 2, WAIT_MOST_MS)) {
      try {
        return await work();
      } catch (error) {
        const askedMs = retryAfterMs(error);
        if (left <= 0 || !isPassing(error, send) || askedMs > WAIT_MOST_MS)
          throw error instanceof TypeError ? unreachable(root, error) : error;
        const pauseMs = Math.max(waitMs, askedMs);
        onWait?.(error, pauseMs);
        await pause(pauseMs, send.signal);
      }
    }
  }

  return {
    raw: (path, send = {}) => insisting(send, () => once(path, send)),
    // An answer may break off half-way, too.
    json: <T>(path: string, send: Send = {}) =>
      insisting(send, async () => (await (await once(path, send)).json()) as T),
  };
}

function isPassing(error: unknown, { isOnce = false }: Send): boolean {
  // `taken` of a list were dealt with: whoever sent it goes on from there.
  if (error instanceof ApiError) return !isOnce && PASSING.includes(error.status) && error.problem.taken === undefined;
  if (!(error instanceof TypeError)) return false;
  return !isOnce || (error.cause as { code?: string } | undefined)?.code === "ECONNREFUSED";
}

function retryAfterMs(error: unknown): number {
  return error instanceof ApiError ? Number(error.problem.retryAfterMs ?? 0) || 0 : 0;
}

/** Rejects with the signal's reason when it aborts. */
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

async function problemIn(answer: Response): Promise<Record<string, unknown>> {
  const retryAfter = answer.headers.get("retry-after");
  const waits = retryAfter === null ? {} : { retryAfterMs: Number(retryAfter) * 1000 };
  try {
    return { ...waits, ...((await answer.json()) as Record<string, unknown>) };
  } catch {
    return { ...waits, detail: `the server answered with ${answer.status}, and not as this API does` };
  }
}
