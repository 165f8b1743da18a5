/**
 * Extracts a page with untested rules, for previews in the API. It runs in a worker thread, because a user's regular
 * expression may never end and must not block the server. Requests run one after another. A request that exceeds its time
 * limit ends the thread, and the next request starts a new one. An aborted request leaves the queue. Each caller may have a
 * few requests in the queue. An idle thread is ended after a while.
 */
import { Worker } from "node:worker_threads";
import { type ErrorCode, TrawlError } from "../errors.ts";
import type { ExtractorChoice } from "./create-extractor.ts";
import type { ExtractInput } from "./extractor.ts";
import type { ExtractionPreview } from "./truncate-preview.ts";

export type ReadingOrder = { choice: ExtractorChoice; input: ExtractInput };
export type ReadingAnswer =
  | { kind: "read"; reading: ExtractionPreview }
  | { kind: "refused"; code: ErrorCode; message: string; detail: Readonly<Record<string, unknown>> };

/** The caller. Its signal aborts when it no longer waits for the result. */
export type Asker = { name: string; signal: AbortSignal };

export type GuardedExtractor = {
  /** Throws BAD_SELECTOR, EXTRACT_TIMEOUT, EXTRACT_BUSY if the queue is full, or the reason of the signal when it aborts. */
  extract(choice: ExtractorChoice, input: ExtractInput, asker: Asker): Promise<ExtractionPreview>;
  stop(): Promise<void>;
};

export type GuardOptions = {
  /** Time limit of one page. */
  timeoutMs: number;
  /** How long an idle thread is kept. */
  idleMs: number;
  /** Maximum number of requests in the queue, in total and per caller. More are rejected at once. */
  ordersMost: number;
  ordersOfOneMost: number;
};

type Waiting = { order: ReadingOrder; asker: string; begin(): Promise<void> };

/** A new thread loads its modules first, outside the time limit of the page. Only a thread that hangs takes this long. */
const LOAD_MS = 60_000;
const HEAP_MB = 512;

export function createGuardedExtractor(options: GuardOptions): GuardedExtractor {
  const threads = createThreadKeeper(options.idleMs);
  const line: Waiting[] = [];
  let current: Waiting | undefined;

  async function read(order: ReadingOrder): Promise<ExtractionPreview> {
    const answer = await threads.use((thread) =>
      ask(thread, order, { withinMs: options.timeoutMs, late: tooSlow(options) }),
    );
    if (answer.kind === "read") return answer.reading;
    const { code, message, detail } = answer;
    throw new TrawlError(code, { op: "extract.guarded", message, detail });
  }

  async function work(): Promise<void> {
    if (current !== undefined) return;
    for (current = line.shift(); current !== undefined; current = line.shift()) await current.begin();
  }

  function refuseMore(asker: string): void {
    const orders = current === undefined ? line : [current, ...line];
    const own = orders.filter((one) => one.asker === asker).length;
    if (orders.length < options.ordersMost && own < options.ordersOfOneMost) return;
    throw new TrawlError("EXTRACT_BUSY", {
      op: "extract.guarded",
      message: `${orders.length} pages wait to be read by rules that are tried, ${own} of them for you; ask again in a moment`,
      detail: { retryAfterMs: options.timeoutMs },
    });
  }

  return {
    async extract(choice, input, { name: asker, signal }) {
      signal.throwIfAborted();
      refuseMore(asker);
      return new Promise<ExtractionPreview>((resolve, reject) => {
        const order = { choice, input };
        const waiting = { order, asker, begin: () => read(order).then(resolve, reject).finally(heardOf) };
        // The result of a running request is dropped. Ending its thread would cost the next request more.
        const leave = () => {
          const place = line.indexOf(waiting);
          if (place >= 0) line.splice(place, 1);
          reject(signal.reason);
        };
        const heardOf = () => signal.removeEventListener("abort", leave);
        signal.addEventListener("abort", leave, { once: true });
        line.push(waiting);
        void work();
      });
    },
    stop: threads.stop,
  };
}

/** At most one thread, started on demand. It is ended after an error or a timeout. */
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
  const hello: ReadingOrder = {
    choice: { rules: { title: "title" }, links: undefined },
    input: {
      page: { url: "", status: 200, headers: {}, contentType: undefined, bodyBytes: 0, fetchedAt: 0, tookMs: 0 },
      html: "",
    },
  };
  try {
    const late = `the thread that reads pages did not start within ${LOAD_MS / 1000} s; try again when the machine is less busy`;
    await ask(thread, hello, { withinMs: LOAD_MS, late });
  } catch (error) {
    await thread.terminate();
    throw error;
  }
  return thread;
}

type Limit = { withinMs: number; late: string };

function ask(thread: Worker, order: ReadingOrder, { withinMs, late }: Limit): Promise<ReadingAnswer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => settle(() => reject(tooMuch(late))), withinMs);
    const heard = (answer: ReadingAnswer) => settle(() => resolve(answer));
    const failed = (cause: NodeJS.ErrnoException) =>
      settle(() => reject(cause.code === "ERR_WORKER_OUT_OF_MEMORY" ? tooMuch(TOO_LARGE) : cause));
    const ended = () => settle(() => reject(tooMuch("the thread that read the page ended; ask again")));
    function settle(say: () => void): void {
      clearTimeout(timer);
      thread.off("message", heard).off("error", failed).off("exit", ended);
      say();
    }
    thread.on("message", heard).on("error", failed).on("exit", ended);
    thread.postMessage(order);
  });
}

function tooSlow({ timeoutMs }: Pick<GuardOptions, "timeoutMs">): string {
  return `the page was not extracted within ${timeoutMs / 1000} s; a pattern in "match" may be too slow`;
}

const TOO_LARGE = `reading the page took more than the ${HEAP_MB} MB of memory there is for it`;

function tooMuch(message: string): TrawlError {
  return new TrawlError("EXTRACT_TIMEOUT", { op: "extract.guarded", message });
}
