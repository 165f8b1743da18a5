/**
 * Writes results durably, in batches. It writes each task in this order: bodies and spooled pages, then pages and
 * records in the store, then the settlement in the frontier. Then it removes spooled pages that were parsed. After a
 * crash between two of the writes, the task runs again. Its next write has a higher token and replaces the first one.
 * The lease loop calls the settler. One flush runs at a time. The next flush writes the results that arrive during a
 * flush.
 */
import type { Frontier, Settlement } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Bodies, PageSpool, SpooledPageName } from "../../store/bodies/bodies.ts";
import type { PageWrite, Store } from "../../store/store.ts";
import type { AttemptResult } from "../observe/attempt-recorder.ts";
import type { TaskObserver } from "../observe/task-observer.ts";

type Settler = {
  /**
   * Resolves when the result is durable and settled, or stale. Rejects if the broker or the store cannot be written.
   */
  settle(result: AttemptResult): Promise<void>;
  /** Writes the waiting results immediately. */
  flush(): Promise<void>;
};

type Deps = {
  store: Pick<Store, "write">;
  bodies: Pick<Bodies, "put">;
  spool: Pick<PageSpool, "put" | "remove">;
  frontier: Pick<Frontier, "settle">;
  onFinished(jobId: string): void;
  observe: Pick<TaskObserver, "settled" | "lost">;
  /** Whether more tasks run than fit into a batch. */
  isBusy(): boolean;
  clock: Pick<Clock, "now">;
  log: Log;
};
type Options = { flushMs: number; maxBatch: number };
/** While `isBusy` returns true, the settler waits this many times longer for a full batch. */
const BUSY_FACTOR = 3;

type Waiting = { result: AttemptResult; done: () => void; failed: (cause: unknown) => void };

export function createSettler(
  { store, bodies, spool, frontier, onFinished, observe, isBusy, clock, log }: Deps,
  { flushMs, maxBatch }: Options,
): Settler {
  let waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> = Promise.resolve();

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    flushing = flushing.then(flushOnce);
    return flushing;
  }

  async function flushOnce(): Promise<void> {
    const batch = waiting;
    waiting = [];
    if (batch.length === 0) return;
    try {
      await writeBatch(batch.map(({ result }) => result));
      for (const { done } of batch) done();
    } catch (cause) {
      for (const { failed } of batch) failed(cause);
    }
  }

  async function writeBatch(results: readonly AttemptResult[]): Promise<void> {
    const storeAt = clock.now();
    const spooling = Promise.all(results.flatMap(({ spooled }) => (spooled ? spool.put(spooled.name, spooled) : [])));
    const [writes] = await Promise.all([Promise.all(results.flatMap(pageOf)), spooling]);
    const attempts = results.flatMap(({ entry }) => entry ?? []);
    const memories = results.flatMap(({ memory }) => memory ?? []);
    if (writes.length + attempts.length + memories.length > 0) await store.write(writes, attempts, memories);
    const settlements: Settlement[] = results.map(({ settlement }) => settlement);
    const settleAt = clock.now();
    const { states, finished } = await frontier.settle(settlements);
    const times = { storeAt, settleAt, settledAt: clock.now() };
    results.forEach((result, index) => {
      const { attempt, settlement } = result;
      const state = states[index];
      if (state === undefined || state === "stale") observe.lost?.(attempt, { settlement, times });
      else observe.settled?.(attempt, { settlement, state, times });
    });
    await Promise.all(
      results.flatMap(({ parsedPage }, index) => (parsedPage && states[index] !== "stale" ? clear(parsedPage) : [])),
    );
    for (const jobId of finished) onFinished(jobId);
  }

  /** A failure is only logged: the page has already been parsed, so it only uses disk space. */
  async function clear(parsedPage: SpooledPageName): Promise<void> {
    await spool
      .remove(parsedPage)
      .catch((cause: unknown) => log.warn("worker.spooled_page_left", { ...parsedPage, cause }));
  }

  function pageOf({ write, run, ...result }: AttemptResult): Promise<PageWrite>[] {
    return write === undefined ? [] : [withBodies({ ...write, run }, result)];
  }

  async function withBodies(
    write: Omit<PageWrite, "bodyRef" | "screenshotRef" | "pdfRef">,
    { body, pictures }: Pick<AttemptResult, "body" | "pictures">,
  ): Promise<PageWrite> {
    const put = async (bytes: Buffer | undefined) => (bytes === undefined ? undefined : bodies.put(bytes));
    const { screenshot, pdf } = pictures;
    const [bodyRef, screenshotRef, pdfRef] = await Promise.all([put(body), put(screenshot), put(pdf)]);
    return { ...write, bodyRef, screenshotRef, pdfRef };
  }

  return {
    settle: (result) =>
      new Promise((done, failed) => {
        waiting.push({ result, done, failed });
        if (waiting.length >= maxBatch) void flush();
        else timer ??= setTimeout(flush, isBusy() ? flushMs * BUSY_FACTOR : flushMs);
      }),
    flush,
  };
}
