/**
 * Queues submitted URLs, and discovered links before their page is settled: in batches, each task on the shard of its
 * site (F9, F13, F17). Callers: submitters, and workers that settle. The part of a batch for one shard is atomic. After
 * a crash, the tasks that were sent stay queued. If their URLs are submitted again, they count as duplicates.
 */
import { setImmediate } from "node:timers/promises";
import type { NewTask } from "../../domain/task.ts";
import { isTrawlError, TrawlError } from "../../errors.ts";
import type { EnqueueAnswer } from "../frontier.ts";
import { jobNotFound } from "../job-errors.ts";
import type { PageQuota } from "./cluster/page-quota.ts";
import { allDone, type Shard, type Shards } from "./cluster/shards.ts";
import { encodeSubmitted } from "./codec/codec.ts";
import type { Reply, ScriptArg } from "./connection/broker-client.ts";

/** How soon a submitter should retry after `enqueue` reached the cap. */
const FULL_RETRY_MS = 1000;

/**
 * The maximum size of a batch of submitted tasks. In batches of 1,250, 10,000 tasks of one site take Redis 22 ms of CPU
 * time; in batches of 500, they take 27 ms. A script that adds 500 sites takes 8 to 9 ms, and other calls wait for it.
 */
const MAX_TASKS = 1_250;
const MAX_SITES = 500;

type Deps = {
  shards: Shards;
  quota: PageQuota;
  /** Shards that were full at the last call. */
  full: Set<Shard>;
};
/** `listed`: about how many tasks of the caller's whole list each shard gets. */
type Submission = { jobId: string; maxPending: number; listed: number };
type IndexedTask = { task: NewTask; index: number };
type Refused = EnqueueAnswer["refused"][number];
type PreparedBatch = { size: number; send(): Promise<BatchResult> };
/** `taken` is less than the number of tasks if the cap was reached. */
type BatchResult = { taken: number; queued: number; duplicates: number; refused: Refused[] };

export async function enqueue(
  deps: Deps,
  jobId: string,
  tasks: readonly NewTask[],
  maxPending: number,
): Promise<EnqueueAnswer> {
  const total = { queued: 0, duplicates: 0, refused: [] as Refused[] };
  const submission = { jobId, maxPending, listed: Math.ceil(tasks.length / deps.shards.all.length) };
  const batchFrom = (from: number) => prepareBatch(deps, submission, tasks.slice(from, endOfBatch(tasks, from)));
  let prepared = batchFrom(0);
  let from = 0;
  // Runs once even without tasks, so that a missing or ended job always throws.
  do {
    const { size, send } = prepared;
    const sending = send();
    sending.catch(() => {}); // a failure is thrown where it is awaited
    if (from + size < tasks.length) {
      // Encodes the next batch while the broker works on this one. Queueing 10,000 URLs then takes a tenth less time.
      await setImmediate();
      prepared = batchFrom(from + size);
    }
    const { taken, queued, duplicates, refused } = await sending;
    total.queued += queued;
    total.duplicates += duplicates;
    for (const { index, reason } of refused) total.refused.push({ index: index + from, reason });
    if (taken < size) return { ...total, full: { taken: from + taken, retryAfterMs: FULL_RETRY_MS } };
    from += size;
  } while (from < tasks.length);
  return total;
}

/** Queues links of a task before the task is settled. The cap does not apply. */
export async function discover(
  shard: Shard,
  quota: PageQuota,
  jobId: string,
  links: readonly NewTask[],
): Promise<void> {
  async function send(batch: readonly NewTask[], args: readonly ScriptArg[]): Promise<void> {
    await quota.provide(shard, jobId, batch);
    const [, exists] = await shard.runOnce("discover", jobId, links.length, ...args);
    if (exists !== 1) throw jobNotFound(jobId, "frontier.settle");
  }

  let sending: Promise<void> = Promise.resolve();
  for (let from = 0, to = 0; from < links.length; from = to) {
    to = endOfBatch(links, from);
    const batch = links.slice(from, to);
    const args = encodeSubmitted(batch); // while the broker works on the previous batch
    await sending;
    sending = send(batch, args);
    sending.catch(() => {}); // a failure is thrown where it is awaited
  }
  await sending;
}

/**
 * The index after the last task of a batch. Submitters group tasks by site, so the sites of a batch are counted by the
 * changes of site.
 */
function endOfBatch(tasks: readonly NewTask[], from: number): number {
  const max = Math.min(from + MAX_TASKS, tasks.length);
  let sites = 0;
  for (let at = from; at < max; at++) {
    if (at === from || tasks[at]?.site !== tasks[at - 1]?.site) sites += 1;
    if (sites > MAX_SITES) return at;
  }
  return max;
}

/** Prepares a batch: does the work that does not depend on the result of the previous batch. */
function prepareBatch(deps: Deps, submission: Submission, tasks: readonly NewTask[]): PreparedBatch {
  const indexed = tasks.map((task, index) => ({ task, index }));
  const [only] = deps.shards.all;
  if (only === undefined || deps.shards.all.length > 1) {
    return { size: tasks.length, send: () => enqueueOnShards(deps, submission, indexed) };
  }
  const args = encodeSubmitted(tasks);
  return { size: tasks.length, send: () => enqueuePart(only, submission, indexed, args) };
}

/**
 * One of several shards may be full while others are not. The tasks for shards that were full at the last call are sent
 * first. If such a shard is still full, the other shards get only the tasks before the first task that it did not
 * accept. So a submitter that retries does not send the same tasks again and again.
 */
async function enqueueOnShards(
  { shards, quota, full }: Deps,
  submission: Submission,
  indexed: readonly IndexedTask[],
): Promise<BatchResult> {
  const { jobId, maxPending } = submission;
  const fitting = indexed.slice(0, await freeCapacity(shards, maxPending));
  const parts = splitByShard(shards, fitting);
  // Without tasks, the owner shard still checks the job.
  if (parts.size === 0) parts.set(shards.ownerOf(jobId), []);
  let taken = fitting.length;

  async function offer([shard, part]: [Shard, IndexedTask[]]): Promise<BatchResult> {
    const own = part.filter(({ index }) => index < taken);
    const ownTasks = own.map(({ task }) => task);
    await quota.provide(shard, jobId, ownTasks);
    const answer = await enqueuePart(shard, submission, own, encodeSubmitted(ownTasks));
    const left = own[answer.taken];
    if (left === undefined) full.delete(shard);
    else {
      full.add(shard);
      taken = Math.min(taken, left.index);
    }
    return answer;
  }

  const maybeFull = [...parts].filter(([shard]) => full.has(shard));
  const others = [...parts].filter(([shard]) => !full.has(shard));
  const answers = [...(await allDone(maybeFull.map(offer))), ...(await allDone(others.map(offer)))];
  return {
    taken,
    queued: answers.reduce((sum, { queued }) => sum + queued, 0),
    duplicates: answers.reduce((sum, { duplicates }) => sum + duplicates, 0),
    refused: answers
      .flatMap(({ refused }) => refused.filter(({ index }) => index < taken))
      .sort((one, other) => one.index - other.index),
  };
}

function splitByShard(shards: Shards, indexed: readonly IndexedTask[]): Map<Shard, IndexedTask[]> {
  const parts = new Map<Shard, IndexedTask[]>();
  for (const one of indexed) {
    const shard = shards.ofSite(one.task.site);
    const part = parts.get(shard);
    if (part === undefined) parts.set(shard, [one]);
    else part.push(one);
  }
  return parts;
}

/** How many more tasks the cap allows. The shards are not read at the same instant, but the sum is accurate enough. */
async function freeCapacity(shards: Shards, maxPending: number): Promise<number> {
  const counts = await Promise.all(shards.all.map((shard) => shard.read("HGET", shard.key("meta"), "pending")));
  return Math.max(0, maxPending - counts.reduce<number>((sum, count) => sum + Number(count ?? 0), 0));
}

async function enqueuePart(
  shard: Shard,
  submission: Submission,
  indexed: readonly IndexedTask[],
  args: readonly ScriptArg[],
): Promise<BatchResult> {
  try {
    return decodeResult(await send(shard, submission, args), indexed);
  } catch (error) {
    // A server that is out of memory counts as full.
    if (isTrawlError(error, "BROKER_FULL")) return { taken: 0, queued: 0, duplicates: 0, refused: [] };
    throw error;
  }
}

async function send(
  shard: Shard,
  { jobId, maxPending, listed }: Submission,
  args: readonly ScriptArg[],
): Promise<Reply> {
  const reply = await shard.runOnce("enqueue", jobId, maxPending, listed, ...args);
  const state = String(reply[1]);
  if (state === "") return reply;
  if (state === "missing") throw jobNotFound(jobId, "frontier.enqueue");
  throw new TrawlError("JOB_ENDED", {
    op: "frontier.enqueue",
    message: `job ${jobId} is ${state} and accepts no more URLs; start a new job`,
    detail: { jobId, state },
  });
}

function decodeResult(reply: Reply, indexed: readonly IndexedTask[]): BatchResult {
  const [, , taken, queued, duplicates, ...refusals] = reply;
  const refused: Refused[] = [];
  for (let at = 0; at < refusals.length; at += 2) {
    const index = indexed[Number(refusals[at])]?.index ?? 0;
    refused.push({ index, reason: refusals[at + 1] as Refused["reason"] });
  }
  return { taken: Number(taken), queued: Number(queued), duplicates: Number(duplicates), refused };
}
