/**
 * Queues URLs that came over HTTP, a list or a stream of any length, in bounded memory: the client is read no faster than
 * the broker takes. Known URLs are duplicates, so that sending a list again from anywhere is harmless.
 */
import { TrawlError } from "../../errors.ts";
import type { JobSpec } from "../../submit/job-spec.ts";
import { firstTasks, type Refusal } from "../../submit/submit-job.ts";
import type { ApiDeps } from "../api-deps.ts";
import { readLines } from "./read-lines.ts";

export type Taken = {
  id: string;
  accepted: number;
  duplicates: number;
  /** The first of them; all are counted. */
  refused: readonly Refusal[];
  refusedCount: number;
  taken: number;
};

export const REFUSALS_MOST = 1_000;
/** Small enough that one request of a million URLs does not hold up the others for long. */
const BATCH = 1_000;

/** Throws BROKER_FULL, which tells how many were taken. */
export async function addUrls(
  { frontier }: Pick<ApiDeps, "frontier">,
  spec: JobSpec,
  source: readonly string[] | AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
): Promise<Taken> {
  const refused: Refusal[] = [];
  const sum = { accepted: 0, duplicates: 0, refusedCount: 0, taken: 0 };

  function refuse(refusal: Refusal): void {
    sum.refusedCount += 1;
    if (refused.length < REFUSALS_MOST) refused.push(refusal);
  }

  async function enqueue({ tasks, indexes, first, batch }: Prepared): Promise<void> {
    const { queued, duplicates, refused: late, full } = await frontier.enqueue(spec.id, tasks);
    sum.accepted += queued;
    sum.duplicates += duplicates;
    for (const { index, reason } of late) {
      const at = indexes[index] ?? index;
      refuse({ index: first + at, url: batch[at] ?? "", reason });
    }
    sum.taken = first + (full === undefined ? batch.length : (indexes[full.taken] ?? batch.length));
    if (full !== undefined) throw isFull({ id: spec.id, ...sum, refused }, full.retryAfterMs);
  }

  // One batch is made ready while the broker takes the one before.
  let first = 0;
  let underWay: Promise<void> = Promise.resolve();
  for await (const batch of batchesOf(source)) {
    const { tasks, indexes, refused: unfit } = firstTasks(spec, batch);
    await underWay;
    signal?.throwIfAborted();
    for (const { index, url, reason } of unfit) refuse({ index: first + index, url, reason });
    underWay = enqueue({ tasks, indexes, first, batch });
    underWay.catch(() => {}); // heard when it is waited for
    first += batch.length;
  }
  await underWay;
  return { id: spec.id, ...sum, refused };
}

type Prepared = Pick<ReturnType<typeof firstTasks>, "tasks" | "indexes"> & { first: number; batch: readonly string[] };

async function* batchesOf(source: readonly string[] | AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  if (Symbol.asyncIterator in source) {
    yield* readLines(source, BATCH);
    return;
  }
  for (let from = 0; from < source.length; from += BATCH) yield source.slice(from, from + BATCH);
}

function isFull(taken: Taken, retryAfterMs: number): TrawlError {
  const { id, accepted, duplicates, refusedCount } = taken;
  return new TrawlError("BROKER_FULL", {
    op: "api.addUrls",
    message: `the broker holds as many URLs as it may; ${taken.taken} of these were taken: send the rest to /v1/jobs/${id}/urls later`,
    detail: { id, accepted, duplicates, refusedCount, taken: taken.taken, retryAfterMs },
  });
}
