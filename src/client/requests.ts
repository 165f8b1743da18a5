/**
 * Requests to the API that outlive a lost connection. All that this client sends may be sent again: what is read changes
 * nothing, jobs are submitted under a key, URLs that are known are duplicates.
 */
import { ApiError } from "./api-error.ts";

export type ConnectOptions = {
  /** An API key, where the server asks for one. */
  key?: string;
  /** In place of the global one. */
  fetch?: typeof fetch;
  /** How often a request is tried where the server cannot be reached, or is stopping. */
  tries?: number;
};

export type Send = {
  method?: string;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal | undefined;
};

export type Requests = {
  /** The answer as JSON. Throws ApiError. */
  json<T>(path: string, send?: Send): Promise<T>;
  /** The answer as it is, if it is a good one. Throws ApiError. */
  raw(path: string, send?: Send): Promise<Response>;
};

const FIRST_WAIT_MS = 250;
const PASSING = [502, 503];

export function createRequests(base: string, { key, fetch: own, tries = 4 }: ConnectOptions): Requests {
  const root = base.replace(/\/+$/, "");
  // Called as a function of its own: browsers refuse a fetch that hangs on another object.
  const ask = own ?? ((...words: Parameters<typeof fetch>) => fetch(...words));

  async function once(path: string, { method = "GET", body, headers = {}, signal }: Send): Promise<Response> {
    const answer = await ask(root + path, {
      method,
      headers: {
        ...headers,
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (answer.ok) return answer;
    throw new ApiError(answer.status, await problemIn(answer));
  }

  async function raw(path: string, send: Send = {}): Promise<Response> {
    for (let left = tries - 1, waitMs = FIRST_WAIT_MS; ; left -= 1, waitMs *= 2) {
      try {
        return await once(path, send);
      } catch (error) {
        const isPassing = error instanceof ApiError ? PASSING.includes(error.status) : error instanceof TypeError;
        if (!isPassing || left <= 0) throw error;
        await pause(waitMs, send.signal);
      }
    }
  }

  return { raw, json: async <T>(path: string, send?: Send) => (await (await raw(path, send)).json()) as T };
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
