/**
 * Queues URLs that came over HTTP, a list or a stream of any length, in bounded memory: the client is read no faster than
 * the broker takes. Known URLs are duplicates, so that sending a list again from anywhere is harmless.
 */
import { TrawlError } from "../../errors.ts";
import type { JobSpec } from "../../submit/job-spec.ts";
import { firstTasks, type Refusal } from "../../submit/submit-job.ts";
import type { ApiDeps } from "../api-deps.ts";
import type { Budget } from "../quota/quotas.ts";
import { reachedError } from "../quota/reached.ts";
import type { Caller } from "../route.ts";
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
/**
 * Small enough that one request of a million URLs does not hold up the others for long; and the larger, the fewer sites
 * there are to each step of the broker (10,000 URLs of 50 sites take it 50 ms in batches of 2,500, 92 ms as they come).
 */
const BATCH = 2_500;

type Source = readonly string[] | AsyncIterable<Uint8Array>;
type Sender = { caller: Caller; signal?: AbortSignal };

/** Throws BROKER_FULL or QUOTA_REACHED, which tell how many were taken. */
export async function addUrls(
  { frontier, quotas }: Pick<ApiDeps, "frontier" | "quotas">,
  spec: JobSpec,
  source: Source,
  { caller, signal }: Sender,
): Promise<Taken> {
  const budget = quotas.budgetOf(caller);
  const refused: Refusal[] = [];
  const sum = { accepted: 0, duplicates: 0, refusedCount: 0, taken: 0 };

  function refuse(refusal: Refusal): void {
    sum.refusedCount += 1;
    if (refused.length < REFUSALS_MOST) refused.push(refusal);
  }

  async function enqueue({ tasks, indexes, first, batch }: Prepared): Promise<void> {
    const { queued, duplicates, refused: late, full } = await frontier.enqueue(spec.id, tasks);
    await budget?.settle(batch.length, queued);
    sum.accepted += queued;
    sum.duplicates += duplicates;
    for (const { index, reason } of late) {
      const at = indexes[index] ?? index;
      refuse({ index: first + at, url: batch[at] ?? "", reason });
    }
    // They go site by site: some that come after the first that found no room may be there already.
    const left = full === undefined ? [] : indexes.slice(full.taken);
    sum.taken = first + left.reduce((least, index) => Math.min(least, index), batch.length);
    if (full !== undefined) throw isFull({ id: spec.id, ...sum, refused }, full.retryAfterMs);
  }

  // One batch is made ready while the broker takes the one before.
  let first = 0;
  let underWay: Promise<void> = Promise.resolve();
  for await (const batch of allowedOf(batchesOf(source), budget, () => underWay)) {
    const { refused: unfit, ...own } = firstTasks(spec, batch);
    const prepared = { ...bySite(own), first, batch };
    await underWay;
    signal?.throwIfAborted();
    for (const { index, url, reason } of unfit) refuse({ index: first + index, url, reason });
    underWay = enqueue(prepared);
    underWay.catch(() => {}); // heard when it is waited for
    first += batch.length;
  }
  await underWay;
  const reached = budget?.reached();
  if (reached !== undefined) throw reachedError(caller, reached, { id: spec.id, ...sum });
  return { id: spec.id, ...sum, refused };
}

/** Cut to what may be queued now, in the order they came; ends where nothing may. */
async function* allowedOf(
  batches: AsyncGenerator<readonly string[]>,
  budget: Budget | undefined,
  settled: () => Promise<void>,
): AsyncGenerator<readonly string[]> {
  for await (const batch of batches) {
    for (let from = 0; from < batch.length; ) {
      const want = batch.length - from;
      let most = (await budget?.reserve(want)) ?? want;
      if (most === 0) {
        // What is under way may turn out to be known URLs, which count for nothing.
        await settled();
        most = (await budget?.reserve(want)) ?? want;
      }
      if (most === 0) return;
      yield most === batch.length ? batch : batch.slice(from, from + most);
      from += most;
    }
  }
}

type Tasks = Pick<ReturnType<typeof firstTasks>, "tasks" | "indexes">;
type Prepared = Tasks & { first: number; batch: readonly string[] };

/** A step of the broker costs by the sites in it. Within a site the order stays. */
function bySite({ tasks, indexes }: Tasks): Tasks {
  const groups = new Map<string, Tasks>();
  tasks.forEach((task, nth) => {
    const group = groups.get(task.site) ?? { tasks: [], indexes: [] };
    groups.set(task.site, group);
    group.tasks.push(task);
    group.indexes.push(indexes[nth] ?? nth);
  });
  const all = [...groups.values()];
  return { tasks: all.flatMap((group) => group.tasks), indexes: all.flatMap((group) => group.indexes) };
}

async function* batchesOf(source: Source): AsyncGenerator<readonly string[]> {
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
    message: `the broker holds as many URLs as it may; ${taken.taken} of these were taken: send the rest to /v1/jobs/${id}/urls later, the last of them with ?last=true`,
    detail: { id, accepted, duplicates, refusedCount, taken: taken.taken, retryAfterMs },
  });
}
