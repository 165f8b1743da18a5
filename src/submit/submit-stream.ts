/**
 * Submits a job whose URLs come as a stream, of any length, in bounded memory: creates it, queues batch after batch,
 * waits where the broker is full, and seals it when the stream has ended. Stopped half-way it leaves a job that is not
 * sealed and holds what was taken; submitting the same stream to it again is harmless, since known URLs are duplicates.
 * A stream without one good URL is a mistake: no job is made of it, and none is sealed.
 */
import type { Frontier } from "../frontier/frontier.ts";
import type { JobSpec } from "./job-spec.ts";
import { firstTasks, newJobFrom, type Refusal } from "./submit-job.ts";

export type StreamAnswer = {
  id: string;
  requestId: string;
  accepted: number;
  duplicates: number;
  /** The first of them; all are counted. */
  refused: readonly Refusal[];
  refusedCount: number;
  /** URLs of the stream that were dealt with. */
  taken: number;
  /** False while no URL was good: there is no such job, then, unless there was one before. */
  isBegun: boolean;
  /** False when it was stopped before the end of the stream. */
  isWhole: boolean;
};

/** The answer before the first URL. */
export const NOTHING_YET: Omit<StreamAnswer, "id" | "requestId"> = {
  ...{ accepted: 0, duplicates: 0, refused: [], refusedCount: 0, taken: 0 },
  ...{ isBegun: false, isWhole: false },
};

type Deps = {
  frontier: Pick<Frontier, "createJob" | "enqueue" | "seal">;
  now: () => number;
  /** Resolves early when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
};

type Options = {
  batchMost: number;
  refusalsMost: number;
  /** Called after every batch, and while the broker is full. */
  onProgress(answer: StreamAnswer, isFull: boolean): void;
  signal: AbortSignal;
};

export async function submitStream(
  { frontier, now, sleep }: Deps,
  spec: JobSpec,
  urls: AsyncIterable<string>,
  { batchMost, refusalsMost, onProgress, signal }: Options,
): Promise<StreamAnswer> {
  const answer = { id: spec.id, requestId: spec.requestId, ...NOTHING_YET };
  const refused: Refusal[] = [];
  const current = (): StreamAnswer => ({ ...answer, refused });

  function refuse(refusal: Refusal): void {
    answer.refusedCount += 1;
    if (refused.length < refusalsMost) refused.push(refusal);
  }

  /** One batch, in as many calls as a full broker makes of it. */
  async function submitBatch(batch: readonly string[]): Promise<void> {
    const first = answer.taken;
    const { tasks, indexes, refused: unfit } = firstTasks(spec, batch);
    for (const { index, url, reason } of unfit) refuse({ index: first + index, url, reason });
    // Stopped while reading: a job that is made now would stay empty, and open.
    if (tasks.length > 0 && !signal.aborted) await begin();
    for (let from = 0; from < tasks.length && !signal.aborted; ) {
      const { queued, duplicates, refused: late, full } = await frontier.enqueue(spec.id, tasks.slice(from));
      answer.accepted += queued;
      answer.duplicates += duplicates;
      for (const { index, reason } of late) refuse({ ...placed(index + from), reason });
      from = full === undefined ? tasks.length : from + full.taken;
      answer.taken = first + (indexes[from] ?? batch.length);
      if (full === undefined || from >= tasks.length) return;
      onProgress(current(), true);
      await sleep(full.retryAfterMs, signal);
    }
    if (tasks.length === 0) answer.taken = first + batch.length;

    function placed(nth: number): { index: number; url: string } {
      const at = indexes[nth] ?? nth;
      return { index: first + at, url: batch[at] ?? "" };
    }
  }

  async function begin(): Promise<void> {
    if (!answer.isBegun) await frontier.createJob(newJobFrom(spec, now()));
    answer.isBegun = true;
  }

  for await (const batch of batchesOf(urls, batchMost)) {
    await submitBatch(batch);
    if (signal.aborted) return current();
    onProgress(current(), false);
  }
  if (signal.aborted) return current(); // its end may be ours, and not the stream's
  if (answer.isBegun) await frontier.seal(spec.id);
  return { ...current(), isWhole: true };
}

async function* batchesOf(urls: AsyncIterable<string>, most: number): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const url of urls) {
    if (batch.push(url) < most) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
