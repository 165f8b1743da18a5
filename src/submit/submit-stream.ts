/**
 * Submits a job whose URLs come as a stream, of any length, in bounded memory: creates it, queues batch after batch,
 * waits where the broker is full, and seals it when the stream has ended. Stopped half-way it leaves a job that is not
 * sealed and holds what was taken; submitting the same stream to it again is harmless, since known URLs are duplicates.
 * A stream without one good URL is a mistake: no job is made of it, and none is sealed.
 */
import type { NewTask } from "../domain/task.ts";
import type { EnqueueAnswer } from "../frontier/frontier.ts";
import type { firstTasks, Refusal } from "./submit-job.ts";

/** Where the URLs go: the broker itself, or a server in front of it. */
export type Intake = {
  /** As it is known before it is begun: where somebody else makes it, its id is theirs to say. */
  job: { id: string; requestId: string; name: string };
  /** URLs of one call. */
  batchMost: number;
  /** URLs as tasks, and those that cannot be any. */
  prepare(urls: readonly string[]): ReturnType<typeof firstTasks>;
  /** Makes the job, or finds the one that was made under the same key. `isSealed`: its list was taken whole before. */
  begin(): Promise<Begun>;
  /** In the order of the stream. Refusals may come with the words of whoever refused. */
  enqueue(tasks: readonly NewTask[]): Promise<Taking>;
  /** No more are to come. */
  seal(): Promise<void>;
};

/** `webhookSecret`: what events are signed with, where one had to be made; it is told this once. */
export type Begun = { id: string; requestId: string; isSealed: boolean; webhookSecret?: string | null };

export type Taking = Omit<EnqueueAnswer, "refused"> & { refused: readonly { index: number; reason: string }[] };

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
  /** The list was taken whole before, under the same key: nothing of it was sent again. */
  isKnown: boolean;
  /** Of Begun. */
  webhookSecret: string | null;
};

/** The answer before the first URL. */
export const NOTHING_YET: Omit<StreamAnswer, "id" | "requestId"> = {
  ...{ accepted: 0, duplicates: 0, refused: [], refusedCount: 0, taken: 0 },
  ...{ isBegun: false, isWhole: false, isKnown: false, webhookSecret: null },
};

type Deps = {
  intake: Intake;
  /** Resolves early when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
};

type Options = {
  refusalsMost: number;
  /** Called after every batch, and while the broker is full. */
  onProgress(answer: StreamAnswer, isFull: boolean): void;
  signal: AbortSignal;
};

export async function submitStream(
  { intake, sleep }: Deps,
  urls: AsyncIterable<string>,
  { refusalsMost, onProgress, signal }: Options,
): Promise<StreamAnswer> {
  const answer = { id: intake.job.id, requestId: intake.job.requestId, ...NOTHING_YET };
  const refused: Refusal[] = [];
  const current = (): StreamAnswer => ({ ...answer, refused });

  function refuse(refusal: Refusal): void {
    answer.refusedCount += 1;
    if (refused.length < refusalsMost) refused.push(refusal);
  }

  /** One batch, in as many calls as a full broker makes of it. */
  async function submitBatch(batch: readonly string[]): Promise<void> {
    const first = answer.taken;
    const { tasks, indexes, refused: unfit } = intake.prepare(batch);
    for (const { index, url, reason } of unfit) refuse({ index: first + index, url, reason });
    // Stopped while reading: a job that is made now would stay empty, and open.
    if (tasks.length > 0 && !signal.aborted) await begin();
    for (let from = 0; from < tasks.length && !signal.aborted && !answer.isKnown; ) {
      const { queued, duplicates, refused: late, full } = await intake.enqueue(tasks.slice(from));
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
    if (answer.isBegun) return;
    const { id, requestId, isSealed, webhookSecret = null } = await intake.begin();
    Object.assign(answer, { id, requestId, isBegun: true, isKnown: isSealed, webhookSecret });
  }

  for await (const batch of batchesOf(urls, intake.batchMost)) {
    await submitBatch(batch);
    if (signal.aborted) return current();
    if (answer.isKnown) return { ...current(), isWhole: true };
    onProgress(current(), false);
  }
  if (signal.aborted) return current(); // its end may be ours, and not the stream's
  if (answer.isBegun) await intake.seal();
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
