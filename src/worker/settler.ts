/**
 * Makes results last, in batches: bodies and parcels, then pages and records (durably), then the settlement in the
 * frontier, in that order for each task; parcels that were parsed go last. A crash between two of these only makes the
 * task run again: its next write has a higher token. Called by the lease loop; one flush runs at a time, and results
 * that come meanwhile go with the next.
 */
import type { Frontier, Settlement } from "../frontier/frontier.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Bodies, ParcelName, Parcels } from "../store/bodies/bodies.ts";
import type { PageWrite, Store } from "../store/store.ts";
import type { ToldResult } from "./teller.ts";

/** When a result, with those beside it, was written, and told to the broker. */
export type SettleTimes = { storeAt: number; settleAt: number; settledAt: number };

export type Settler = {
  /** Resolves when the result is durable and settled (or found stale); rejects when broker or store cannot be written. */
  settle(result: ToldResult): Promise<void>;
  /** Writes what is waiting now, without waiting for more. */
  flush(): Promise<void>;
};

type Deps = {
  store: Pick<Store, "write">;
  bodies: Pick<Bodies, "put">;
  parcels: Pick<Parcels, "put" | "remove">;
  frontier: Pick<Frontier, "settle">;
  onFinished(jobId: string): void;
  /** Called for each result that counted. */
  onSettled(result: ToldResult, times: SettleTimes): void;
  /** Tasks under way, those that wait here included. */
  busy(): number;
  clock: Pick<Clock, "now">;
  log: Log;
};
type Options = { flushMs: number; batchMost: number };
/**
 * With a full batch sure to come, waiting for it saves writes; with few tasks under way it would only hold up their sites.
 */
const FULL_HOUSE = 3;

type Waiting = { result: ToldResult; done: () => void; failed: (cause: unknown) => void };

export function createSettler(
  { store, bodies, parcels, frontier, onFinished, onSettled, busy, clock, log }: Deps,
  { flushMs, batchMost }: Options,
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

  async function writeBatch(results: readonly ToldResult[]): Promise<void> {
    const storeAt = clock.now();
    const sent = Promise.all(results.flatMap(({ parcel }) => (parcel ? parcels.put(parcel.name, parcel) : [])));
    const [writes] = await Promise.all([Promise.all(results.flatMap(pageOf)), sent]);
    const tries = results.flatMap(({ tried }) => tried ?? []);
    const memories = results.flatMap(({ memory }) => memory ?? []);
    if (writes.length + tries.length + memories.length > 0) await store.write(writes, tries, memories);
    const settlements: Settlement[] = results.map(({ settlement }) => settlement);
    const settleAt = clock.now();
    const { verdicts, finished } = await frontier.settle(settlements);
    const times = { storeAt, settleAt, settledAt: clock.now() };
    results.forEach((result, index) => {
      if (verdicts[index] === "settled") {
        onSettled(result, times);
        return;
      }
      log.warn("worker.lease_lost", { taskId: result.settlement.taskId });
      result.lost?.(times);
    });
    await Promise.all(
      results.flatMap(({ spent }, index) => (spent && verdicts[index] === "settled" ? clear(spent) : [])),
    );
    for (const jobId of finished) onFinished(jobId);
  }

  /** One that stays behind is only in the way: its page is parsed. */
  async function clear(spent: ParcelName): Promise<void> {
    await parcels.remove(spent).catch((cause: unknown) => log.warn("worker.parcel_left", { ...spent, cause }));
  }

  function pageOf({ write, run, ...result }: ToldResult): Promise<PageWrite>[] {
    return write === undefined ? [] : [withBodies({ ...write, run }, result)];
  }

  async function withBodies(
    write: Omit<PageWrite, "bodyRef" | "screenshotRef" | "pdfRef">,
    { body, pictures }: Pick<ToldResult, "body" | "pictures">,
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
        if (waiting.length >= batchMost) void flush();
        else timer ??= setTimeout(flush, busy() > batchMost ? flushMs * FULL_HOUSE : flushMs);
      }),
    flush,
  };
}
