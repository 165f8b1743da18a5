/** Reads the stream of /v1/events until aborted, and reconnects with backoff when it breaks. */
import { isApiError } from "../../src/client/api-error.ts";
import { readEvents } from "../../src/client/read-events.ts";
import type { Requests } from "../../src/client/requests.ts";

type StreamHooks = {
  onOpen(): void;
  onEvent(name: string, value: unknown): void;
  /** The stream broke or could not be opened. The next attempt starts in `waitMs`. */
  onDisconnect(error: unknown, waitMs: number): void;
};

const FIRST_WAIT_MS = 500;
const WAIT_MAX_MS = 15_000;
/** The server sends at least a comment every 15 s. */
const IDLE_TIMEOUT_MS = 40_000;

/** Returns when `signal` aborts, or when the server refuses the key. */
export async function followEvents(requests: Requests, hooks: StreamHooks, signal: AbortSignal): Promise<void> {
  let waitMs = FIRST_WAIT_MS;
  while (!signal.aborted) {
    try {
      await readOnce(requests, signal, {
        ...hooks,
        onOpen() {
          waitMs = FIRST_WAIT_MS;
          hooks.onOpen();
        },
      });
    } catch (error) {
      if (signal.aborted || isApiError(error, "UNAUTHORIZED", "FORBIDDEN")) return;
      // Jitter: the browsers of all users must not reconnect at the same instant.
      const pauseMs = waitMs * (0.5 + Math.random());
      waitMs = Math.min(waitMs * 2, WAIT_MAX_MS);
      hooks.onDisconnect(error, pauseMs);
      await sleep(pauseMs, signal);
    }
  }
}

/**
 * Reads one stream, and throws when it ends: an event stream never ends normally. Sends no Last-Event-ID, because a new
 * stream starts with the complete state. A job that was deleted in the meantime is not part of that state.
 */
async function readOnce(requests: Requests, signal: AbortSignal, hooks: StreamHooks): Promise<void> {
  const abort = new AbortController();
  const stop = () => abort.abort();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const restartIdleTimer = () => {
    clearTimeout(timer);
    timer = setTimeout(stop, IDLE_TIMEOUT_MS);
  };
  signal.addEventListener("abort", stop);
  try {
    restartIdleTimer();
    const { body } = await requests.raw("/v1/events", { signal: abort.signal });
    if (body === null) throw new TypeError("the stream has no body");
    hooks.onOpen();
    const watched = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        restartIdleTimer();
        controller.enqueue(chunk);
      },
    });
    for await (const { event, text } of readEvents(body.pipeThrough(watched))) {
      hooks.onEvent(event, JSON.parse(text));
    }
    throw new TypeError("the stream ended");
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
