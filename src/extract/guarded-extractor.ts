/**
 * Extracts a page with untested rules, for previews in the API. It runs in a worker thread, because a user's regular
 * expression may never end and must not block the server. Requests run one after another. If a request exceeds its time
 * limit, the thread is terminated, and the next request starts a new one. An aborted request is removed from the queue.
 * Each caller may have a few requests in the queue. An idle thread is terminated after `idleMs`.
 */
import { Worker } from "node:worker_threads";
import { type ErrorCode, TrawlError } from "../errors.ts";
import type { ExtractorChoice } from "./create-extractor.ts";
import type { ExtractInput } from "./extractor.ts";
import type { ExtractionPreview } from "./truncate-preview.ts";

export type ExtractRequest = { choice: ExtractorChoice; input: ExtractInput };
export type ExtractReply =
  | { kind: "read"; reading: ExtractionPreview }
  | { kind: "refused"; code: ErrorCode; message: string; detail: Readonly<Record<string, unknown>> };

/** The caller. The signal aborts when the caller no longer waits for the result. */
type Requester = { name: string; signal: AbortSignal };

type GuardedExtractor = {
  /**
   * Throws BAD_SELECTOR, EXTRACT_TIMEOUT, EXTRACT_BUSY if the queue is full, or the reason of the signal when it
   * aborts.
   */
  extract(choice: ExtractorChoice, input: ExtractInput, requester: Requester): Promise<ExtractionPreview>;
  stop(): Promise<void>;
};

type GuardOptions = {
  /** Time limit of one page. */
  timeoutMs: number;
  /** How long an idle thread is kept. */
  idleMs: number;
  /** Maximum number of requests in the queue, in total and per caller. Further requests are rejected immediately. */
  maxRequests: number;
  maxRequestsPerCaller: number;
};

type QueuedRequest = { request: ExtractRequest; requester: string; begin(): Promise<void> };

/**
 * A new thread first loads its modules; that time is not part of the limit of the page. Only a hanging thread takes
 * this long.
 */
const LOAD_MS = 60_000;
const HEAP_MB = 512;

export function createGuardedExtractor(options: GuardOptions): GuardedExtractor {
  const threads = createThreadKeeper(options.idleMs);
  const queue: QueuedRequest[] = [];
  let current: QueuedRequest | undefined;

  async function read(request: ExtractRequest): Promise<ExtractionPreview> {
    const reply = await threads.use((thread) =>
      send(thread, request, { timeoutMs: options.timeoutMs, timeoutMessage: tooSlow(options) }),
    );
    if (reply.kind === "read") return reply.reading;
    const { code, message, detail } = reply;
    throw new TrawlError(code, { op: "extract.guarded", message, detail });
  }

  async function work(): Promise<void> {
    if (current !== undefined) return;
    for (current = queue.shift(); current !== undefined; current = queue.shift()) await current.begin();
  }

  function checkQueueLimits(requester: string): void {
    const requests = current === undefined ? queue : [current, ...queue];
    const own = requests.filter((one) => one.requester === requester).length;
    if (requests.length < options.maxRequests && own < options.maxRequestsPerCaller) return;
    throw new TrawlError("EXTRACT_BUSY", {
      op: "extract.guarded",
      message: `${requests.length} previews of rules are queued, ${own} of them yours; send the request again in a moment`,
      detail: { retryAfterMs: options.timeoutMs },
    });
  }

  return {
    async extract(choice, input, { name: requester, signal }) {
      signal.throwIfAborted();
      checkQueueLimits(requester);
      return new Promise<ExtractionPreview>((resolve, reject) => {
        const request = { choice, input };
        const waiting = { request, requester, begin: () => read(request).then(resolve, reject).finally(unsubscribe) };
        // The result of a running request is discarded: terminating its thread would cost the next request more time.
        const abandon = () => {
          const index = queue.indexOf(waiting);
          if (index >= 0) queue.splice(index, 1);
          reject(signal.reason);
        };
        const unsubscribe = () => signal.removeEventListener("abort", abandon);
        signal.addEventListener("abort", abandon, { once: true });
        queue.push(waiting);
        void work();
      });
    },
    stop: threads.stop,
  };
}

/** Manages at most one thread. Starts it on demand, and terminates it after an error or a timeout. */
function createThreadKeeper(idleMs: number) {
  let thread: Promise<Worker> | undefined;
  let idling: NodeJS.Timeout | undefined;

  async function stop(): Promise<void> {
    clearTimeout(idling);
    const ending = thread;
    thread = undefined;
    await (await ending?.catch(() => undefined))?.terminate();
  }

  function start(): Promise<Worker> {
    const starting = startThread();
    const gone = () => {
      if (thread === starting) thread = undefined;
    };
    starting.then((started) => started.once("exit", gone), gone);
    return starting;
  }

  async function use<T>(work: (thread: Worker) => Promise<T>): Promise<T> {
    clearTimeout(idling);
    thread ??= start();
    try {
      const done = await work(await thread);
      idling = setTimeout(() => void stop(), idleMs);
      idling.unref();
      return done;
    } catch (error) {
      await stop();
      throw error;
    }
  }

  return { use, stop };
}

/** Resolves when the thread has loaded its modules. */
async function startThread(): Promise<Worker> {
  const isSource = import.meta.url.endsWith(".ts");
  const thread = new Worker(new URL(`./reading-thread.${isSource ? "ts" : "js"}`, import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    ...(isSource ? { execArgv: ["--import", "jiti/register"] } : {}),
  });
  thread.unref();
  // A waiting request is rejected by its own handler. Between two requests, an error must not end the process.
  thread.on("error", () => {});
  const probe: ExtractRequest = {
    choice: { rules: { title: "title" }, links: undefined },
    input: {
      page: { url: "", status: 200, headers: {}, contentType: undefined, bodyBytes: 0, fetchedAt: 0, tookMs: 0 },
      html: "",
    },
  };
  try {
    const timeoutMessage = `the extraction thread did not start within ${LOAD_MS / 1000} s; try again when the machine is less busy`;
    await send(thread, probe, { timeoutMs: LOAD_MS, timeoutMessage });
  } catch (error) {
    await thread.terminate();
    throw error;
  }
  return thread;
}

type Limit = { timeoutMs: number; timeoutMessage: string };

function send(thread: Worker, request: ExtractRequest, { timeoutMs, timeoutMessage }: Limit): Promise<ExtractReply> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(() => reject(limitExceeded(timeoutMessage))), timeoutMs);
    const replied = (reply: ExtractReply) => settle(() => resolve(reply));
    const failed = (cause: NodeJS.ErrnoException) =>
      settle(() => reject(cause.code === "ERR_WORKER_OUT_OF_MEMORY" ? limitExceeded(TOO_LARGE) : cause));
    const ended = () =>
      settle(() => reject(limitExceeded("the extraction thread ended before it replied; send the request again")));
    function settle(finish: () => void): void {
      clearTimeout(timer);
      thread.off("message", replied).off("error", failed).off("exit", ended);
      finish();
    }
    thread.on("message", replied).on("error", failed).on("exit", ended);
    thread.postMessage(request);
  });
}

function tooSlow({ timeoutMs }: Pick<GuardOptions, "timeoutMs">): string {
  return `the page was not extracted within ${timeoutMs / 1000} s; a pattern in "match" may be too slow`;
}

const TOO_LARGE = `the extraction exceeded its memory limit of ${HEAP_MB} MB`;

function limitExceeded(message: string): TrawlError {
  return new TrawlError("EXTRACT_TIMEOUT", { op: "extract.guarded", message });
}
