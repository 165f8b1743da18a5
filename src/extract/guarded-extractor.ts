/**
 * Reads a page by rules that nobody has tried before, for whoever is waiting: in a thread of its own, since a user's
 * pattern may take for ever, and must not hold up anybody else. Orders are read one after another; one that takes too long
 * ends the thread, and the next begins another. Whoever goes leaves the line, and nobody has more than a few orders in it.
 * A thread that has had nothing to do for a while is ended, too.
 */
import { Worker } from "node:worker_threads";
import { type ErrorCode, TrawlError } from "../errors.ts";
import type { ExtractorChoice } from "./create-extractor.ts";
import type { CutReading } from "./cut-reading.ts";
import type { ExtractInput } from "./extractor.ts";

export type ReadingOrder = { choice: ExtractorChoice; input: ExtractInput };
export type ReadingAnswer =
  | { kind: "read"; reading: CutReading }
  | { kind: "refused"; code: ErrorCode; message: string; detail: Readonly<Record<string, unknown>> };

/** Who asks; their signal aborts when they no longer want to know. */
export type Asker = { name: string; signal: AbortSignal };

export type GuardedExtractor = {
  /** Throws BAD_SELECTOR, EXTRACT_TIMEOUT, or EXTRACT_BUSY where too much waits; what the signal says once it aborts. */
  extract(choice: ExtractorChoice, input: ExtractInput, asker: Asker): Promise<CutReading>;
  stop(): Promise<void>;
};

export type GuardOptions = {
  /** How long one page may take. */
  timeoutMs: number;
  /** How long a thread is kept for the next. */
  idleMs: number;
  /** Orders that may wait or be read, in all and of one asker; more are refused at once. */
  ordersMost: number;
  ordersOfOneMost: number;
};

type Waiting = { order: ReadingOrder; asker: string; begin(): Promise<void> };

/** To load a thread takes a while, which is not the page's. */
const LOAD_MS = 15_000;
const HEAP_MB = 512;

export function createGuardedExtractor(options: GuardOptions): GuardedExtractor {
  const threads = createThreadKeeper(options.idleMs);
  const line: Waiting[] = [];
  let current: Waiting | undefined;

  async function read(order: ReadingOrder): Promise<CutReading> {
    const answer = await threads.use((thread) => ask(thread, order, options.timeoutMs));
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
      return new Promise<CutReading>((resolve, reject) => {
        const order = { choice, input };
        const waiting = { order, asker, begin: () => read(order).then(resolve, reject).finally(heardOf) };
        // Of an order that is being read, the answer is dropped: to end its thread would cost the next one more.
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

/** One thread at a time, started when it is wanted; one that failed at its work is ended. */
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

/** Resolves when it has loaded what it reads with. */
async function startThread(): Promise<Worker> {
  const isSource = import.meta.url.endsWith(".ts");
  const thread = new Worker(new URL(`./reading-thread.${isSource ? "ts" : "js"}`, import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    ...(isSource ? { execArgv: ["--import", "jiti/register"] } : {}),
  });
  thread.unref();
  // Whoever waits for an answer hears of it; between two orders it must not end the process.
  thread.on("error", () => {});
  const hello: ReadingOrder = {
    choice: { rules: { title: "title" }, links: undefined },
    input: {
      page: { url: "", status: 200, headers: {}, contentType: undefined, bodyBytes: 0, fetchedAt: 0, tookMs: 0 },
      html: "",
    },
  };
  try {
    await ask(thread, hello, LOAD_MS);
  } catch (error) {
    await thread.terminate();
    throw error;
  }
  return thread;
}

function ask(thread: Worker, order: ReadingOrder, withinMs: number): Promise<ReadingAnswer> {
  return new Promise((resolve, reject) => {
    const late = `the page was not read within ${withinMs / 1000} s; a pattern in "match" may be what takes so long`;
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

const TOO_LARGE = `reading the page took more than the ${HEAP_MB} MB of memory there is for it`;

function tooMuch(message: string): TrawlError {
  return new TrawlError("EXTRACT_TIMEOUT", { op: "extract.guarded", message });
}
