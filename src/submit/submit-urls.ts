/**
 * Submits a list of URLs of any length, in bounded memory: creates the job, queues batch after batch, and seals the job
 * at the end of the list. While the broker processes a batch, the next one is read and prepared; the source is read no
 * faster than the broker accepts URLs.
 *
 * A submission that stops half-way leaves a job that is not sealed and has the URLs accepted so far. To continue,
 * submit the same list again: known URLs count as duplicates.
 */
import type { NewTask } from "../domain/task.ts";
import type { EnqueueAnswer } from "../frontier/frontier.ts";
import type { PreparedUrls, Refusal } from "./first-tasks.ts";
import { canonicalEntryUrl } from "./url-entry.ts";

/** The destination of the URLs: the broker (broker-intake.ts), or a server over HTTP (cli/plane/remote-intake.ts). */
export type Intake = {
  /** URLs per call of `enqueue`. */
  maxBatch: number;
  /** Before `begin` the id is preliminary: a server may assign another one. */
  job: { id: string; requestId: string; name: string };
  prepare(urls: readonly string[]): PreparedUrls;
  /** Creates the job, or finds the one that an earlier submission has created. */
  begin(): Promise<BegunJob>;
  /** "ended": another process has completed the same submission. */
  enqueue(tasks: readonly NewTask[]): Promise<EnqueuedUrls | "ended">;
  /** Marks that no more URLs follow. */
  seal(): Promise<void>;
};

/** `isSealed`: an earlier submission was complete. `webhookSecret`: set if it was generated. */
export type BegunJob = {
  id: string;
  requestId: string;
  isNew: boolean;
  isSealed: boolean;
  webhookSecret: string | null;
};

export type EnqueuedUrls = Omit<EnqueueAnswer, "refused"> & { refused: readonly { index: number; reason: string }[] };

/** The quota of one submission. */
export type UrlBudget = {
  /** Reserves up to `want` URLs and returns the number reserved. 0 means that the quota is used up. */
  reserve(want: number): Promise<number>;
  /** Ends a reservation. `queued` of the reserved URLs were new; the others are returned to the quota. */
  settle(reserved: number, queued: number): Promise<void>;
};

export type SubmitAnswer = {
  id: string;
  requestId: string;
  accepted: number;
  duplicates: number;
  /** The first refusals. `refusedCount` counts all. */
  refused: readonly Refusal[];
  refusedCount: number;
  /** The number of URLs of the list that were processed. */
  taken: number;
  /** False if no URL was valid: then no job was created. */
  isBegun: boolean;
  /** False if the job existed before. */
  isNew: boolean;
  /** False if the submission stopped before the end of the list. */
  isWhole: boolean;
  /** True if another submission of the same job was complete. The remaining URLs were not sent. */
  isKnown: boolean;
  webhookSecret: string | null;
  /** Set if the submission stopped because the broker was full. */
  full?: { retryAfterMs: number };
};

/** The answer before any URL was submitted. */
export const NOTHING_SUBMITTED: Omit<SubmitAnswer, "id" | "requestId"> = {
  ...{ accepted: 0, duplicates: 0, refused: [], refusedCount: 0, taken: 0 },
  ...{ isBegun: false, isNew: false, isWhole: false, isKnown: false, webhookSecret: null },
};

type SubmitOptions = {
  /** Create the job even if no URL is valid. */
  isEager: boolean;
  /** Seal the job at the end of the list. */
  seals: boolean;
  /** What to do when the broker is full: return, or sleep and continue. The sleep ends early when the signal aborts. */
  whenFull: "return" | ((ms: number, signal: AbortSignal) => Promise<void>);
  budget: UrlBudget | undefined;
  /** Called after every batch, and while the broker is full. */
  onProgress(answer: SubmitAnswer, isFull: boolean): void;
  signal: AbortSignal;
};

/** The maximum number of refusals that an answer lists. */
export const MAX_REFUSALS = 1_000;

export async function submitUrls(
  intake: Intake,
  batches: AsyncIterable<readonly string[]>,
  { isEager, seals, whenFull, budget, onProgress, signal }: SubmitOptions,
): Promise<SubmitAnswer> {
  const answer = { id: intake.job.id, requestId: intake.job.requestId, ...NOTHING_SUBMITTED } as SubmitAnswer;
  const refused: Refusal[] = [];
  const current = (): SubmitAnswer => ({ ...answer, refused });
  const mayContinue = () => !signal.aborted && !answer.isKnown && answer.full === undefined;

  function refuse(refusal: Refusal): void {
    answer.refusedCount += 1;
    if (refused.length < MAX_REFUSALS) refused.push(refusal);
  }

  async function begin(): Promise<void> {
    const { isSealed, ...begun } = await intake.begin();
    Object.assign(answer, begun, { isBegun: true, isKnown: isSealed });
  }

  /** Queues one batch, in several calls if the broker is full. `first`: the position of the batch in the list. */
  async function enqueue(batch: readonly string[], { tasks, indexes }: PreparedUrls, first: number): Promise<void> {
    const before = answer.accepted;
    try {
      for (let from = 0; from < tasks.length && mayContinue(); ) {
        const part = await intake.enqueue(tasks.slice(from));
        if (part === "ended") {
          answer.isKnown = true;
          return;
        }
        answer.accepted += part.queued;
        answer.duplicates += part.duplicates;
        for (const { index, reason } of part.refused) {
          const at = indexes[from + index] ?? index;
          refuse({ index: first + at, url: batch[at] ?? "", reason });
        }
        from = part.full === undefined ? tasks.length : from + part.full.taken;
        // Tasks are grouped by site, so later URLs of the list may be queued before earlier ones. `taken` counts the
        // URLs before the first one that is not queued.
        answer.taken = first + indexes.slice(from).reduce((least, index) => Math.min(least, index), batch.length);
        if (part.full !== undefined && from < tasks.length) await waitOrReturn(part.full);
      }
    } finally {
      await budget?.settle(batch.length, answer.accepted - before);
    }
    if (tasks.length === 0) answer.taken = first + batch.length;
    if (mayContinue()) onProgress(current(), false);
  }

  async function waitOrReturn({ retryAfterMs }: { retryAfterMs: number }): Promise<void> {
    if (whenFull === "return") {
      answer.full = { retryAfterMs };
      return;
    }
    onProgress(current(), true);
    await whenFull(retryAfterMs, signal);
  }

  if (isEager) await begin();
  if (answer.isKnown) return { ...current(), isWhole: true };
  let read = 0;
  let pending: Promise<void> = Promise.resolve();
  const allowed = { isUsedUp: false };
  for await (const batch of withinBudget(batches, budget, () => pending, allowed)) {
    // A job that is created after the abort would stay empty and unsealed.
    if (!answer.isBegun && !signal.aborted && batch.some(isFetchable)) await begin();
    const prepared = intake.prepare(batch);
    const isFailed = await pending.then(
      () => false,
      () => true,
    );
    if (isFailed || !mayContinue()) {
      await budget?.settle(batch.length, 0);
      break;
    }
    for (const { index, url, reason } of prepared.refused) refuse({ index: read + index, url, reason });
    pending = enqueue(batch, prepared, read);
    pending.catch(() => {}); // rethrown by the await below
    read += batch.length;
  }
  await pending;
  if (answer.isKnown) return { ...current(), isWhole: true };
  // If the signal aborted, the source may have ended before the end of the list.
  if (signal.aborted || answer.full !== undefined || allowed.isUsedUp) return current();
  if (answer.isBegun && seals) await intake.seal();
  return { ...current(), isWhole: true };
}

/** Cuts batches to the quota. Ends early, and sets `isUsedUp`, when the quota allows no more. */
async function* withinBudget(
  batches: AsyncIterable<readonly string[]>,
  budget: UrlBudget | undefined,
  settled: () => Promise<void>,
  allowed: { isUsedUp: boolean },
): AsyncGenerator<readonly string[]> {
  for await (const batch of batches) {
    for (let from = 0; from < batch.length; ) {
      const want = batch.length - from;
      let max = (await budget?.reserve(want)) ?? want;
      if (max === 0) {
        // The batch in progress may consist of known URLs, whose reservation is returned to the quota.
        await settled();
        max = (await budget?.reserve(want)) ?? want;
      }
      if (max === 0) {
        allowed.isUsedUp = true;
        return;
      }
      yield max === batch.length ? batch : batch.slice(from, from + max);
      from += max;
    }
  }
}

function isFetchable(entry: string): boolean {
  return canonicalEntryUrl(entry) !== undefined;
}

/** A batch with more characters is complete. Otherwise a batch of large requests would not fit into memory. */
export const BATCH_CHARS = 16_000_000;

/** Splits a list into batches of at most `max` URLs. */
export async function* inBatches(
  urls: Iterable<string> | AsyncIterable<string>,
  max: number,
): AsyncGenerator<readonly string[]> {
  if (Array.isArray(urls)) {
    for (let from = 0; from < urls.length; from += max) yield urls.slice(from, from + max);
    return;
  }
  let batch: string[] = [];
  let chars = 0;
  for await (const url of urls) {
    chars += url.length;
    if (batch.push(url) < max && chars < BATCH_CHARS) continue;
    yield batch;
    batch = [];
    chars = 0;
  }
  if (batch.length > 0) yield batch;
}
