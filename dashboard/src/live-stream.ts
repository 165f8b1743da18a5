/** The stream of /v1/events, read for as long as somebody wants it: what breaks off is begun again. */
import { isApiError } from "../../src/client/api-error.ts";
import { readEvents } from "../../src/client/read-events.ts";
import type { Requests } from "../../src/client/requests.ts";

export type StreamHooks = {
  onOpen(): void;
  onEvent(name: string, value: unknown): void;
  /** Broken off, or not to be had; tried again in so long. */
  onAway(error: unknown, waitMs: number): void;
};

const FIRST_WAIT_MS = 500;
const WAIT_MOST_MS = 15_000;
/** The server says something every 15 s, if only that it is there. */
const SILENCE_MS = 40_000;

/** Ends when `signal` aborts, or the key is refused. */
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
      // Not all tabs of all people at the same instant.
      const pauseMs = waitMs * (0.5 + Math.random());
      waitMs = Math.min(waitMs * 2, WAIT_MOST_MS);
      hooks.onAway(error, pauseMs);
      await sleep(pauseMs, signal);
    }
  }
}

/**
 * Throws when it breaks off: a stream of events has no end of its own. No Last-Event-ID is sent: a new stream begins with
 * all there is, which also says what is there no more.
 */
async function readOnce(requests: Requests, signal: AbortSignal, hooks: StreamHooks): Promise<void> {
  const silent = new AbortController();
  const stop = () => silent.abort();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = () => {
    clearTimeout(timer);
    timer = setTimeout(stop, SILENCE_MS);
  };
  signal.addEventListener("abort", stop);
  try {
    heard();
    const { body } = await requests.raw("/v1/events", { signal: silent.signal });
    if (body === null) throw new TypeError("the stream has no body");
    hooks.onOpen();
    const noting = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        heard();
        controller.enqueue(chunk);
      },
    });
    for await (const { event, text } of readEvents(body.pipeThrough(noting))) {
      hooks.onEvent(event, JSON.parse(text));
    }
    throw new TypeError("the stream broke off");
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
