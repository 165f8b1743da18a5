/**
 * Reads a page by rules that nobody has tried before, for whoever is waiting: in a thread of its own, since a user's
 * pattern may take for ever, and must not hold up anybody else. Orders are read one after another; one that takes too long
 * ends the thread, and the next begins another. A thread that has had nothing to do for a while is ended, too.
 */
import { Worker } from "node:worker_threads";
import { type ErrorCode, TrawlError } from "../errors.ts";
import type { ExtractorChoice } from "./create-extractor.ts";
import type { ExtractInput, Extraction } from "./extractor.ts";

export type ReadingOrder = { nth: number; choice: ExtractorChoice; input: ExtractInput };
export type ReadingAnswer = { nth: number } & (
  | { kind: "read"; extraction: Extraction }
  | { kind: "refused"; code: ErrorCode; message: string; detail: Readonly<Record<string, unknown>> }
);

export type GuardedExtractor = {
  /** Throws BAD_SELECTOR, or EXTRACT_TIMEOUT. */
  extract(choice: ExtractorChoice, input: ExtractInput): Promise<Extraction>;
  stop(): Promise<void>;
};

export type GuardOptions = {
  /** How long one page may take. */
  timeoutMs: number;
  /** How long a thread is kept for the next. */
  idleMs: number;
  /** Orders that may wait; more are refused at once. */
  waitingMost: number;
};

/** To load a thread takes a while, which is not the page's. */
const LOAD_MS = 15_000;
const HEAP_MB = 512;

export function createGuardedExtractor({ timeoutMs, idleMs, waitingMost }: GuardOptions): GuardedExtractor {
  let thread: Promise<Worker> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let nth = 0;
  let idling: NodeJS.Timeout | undefined;

  async function end(): Promise<void> {
    const ending = thread;
    thread = undefined;
    await (await ending?.catch(() => undefined))?.terminate();
  }

  async function read(choice: ExtractorChoice, input: ExtractInput): Promise<Extraction> {
    clearTimeout(idling);
    thread ??= startThread();
    const running = await thread.catch((cause: unknown) => {
      thread = undefined;
      throw cause;
    });
    nth += 1;
    try {
      const answer = await ask(running, { nth, choice, input }, timeoutMs);
      idling = setTimeout(() => void end(), idleMs);
      idling.unref();
      if (answer.kind === "read") return answer.extraction;
      const { code, message, detail } = answer;
      throw new TrawlError(code, { op: "extract.guarded", message, detail });
    } catch (error) {
      if (!(error instanceof TrawlError) || error.code === "EXTRACT_TIMEOUT") await end();
      throw error;
    }
  }

  return {
    async extract(choice, input) {
      if (waiting >= waitingMost) throw tooLate(`${waiting} pages wait to be read already; ask again`);
      waiting += 1;
      const reading = last.then(() => read(choice, input)).finally(() => (waiting -= 1));
      last = reading.catch(() => {}); // whoever asked hears of it
      return reading;
    },
    async stop() {
      clearTimeout(idling);
      await end();
    },
  };
}

/** Resolves when it has loaded what it reads with. */
async function startThread(): Promise<Worker> {
  const isSource = import.meta.url.endsWith(".ts");
  const thread = new Worker(new URL(`./reading-thread.${isSource ? "ts" : "js"}`, import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    ...(isSource ? { execArgv: ["--import", "jiti/register"] } : {}),
  });
  thread.unref();
  const hello: ReadingOrder = {
    nth: 0,
    choice: { rules: { title: "title" }, links: undefined },
    input: {
      page: { url: "", status: 200, headers: {}, contentType: undefined, bodyBytes: 0, fetchedAt: 0, tookMs: 0 },
      html: "",
    },
  };
  await ask(thread, hello, LOAD_MS);
  return thread;
}

function ask(thread: Worker, order: ReadingOrder, withinMs: number): Promise<ReadingAnswer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => settle(() => reject(tooLate(`the page was not read within ${withinMs / 1000} s`))),
      withinMs,
    );
    const heard = (answer: ReadingAnswer) => settle(() => resolve(answer));
    const failed = (cause: unknown) => settle(() => reject(cause));
    const ended = () => settle(() => reject(tooLate("reading the page took more memory than there is for it")));
    function settle(say: () => void): void {
      clearTimeout(timer);
      thread.off("message", heard).off("error", failed).off("exit", ended);
      say();
    }
    thread.on("message", heard).on("error", failed).on("exit", ended);
    thread.postMessage(order);
  });
}

function tooLate(what: string): TrawlError {
  return new TrawlError("EXTRACT_TIMEOUT", {
    op: "extract.guarded",
    message: `${what}; a pattern in "match" may be what takes so long`,
  });
}
