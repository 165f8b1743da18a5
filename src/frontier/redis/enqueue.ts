/**
 * Submissions, and links ahead of their page's settlement: in steps of BATCH_MOST, each on the shard of its site (F9, F13,
 * F17). Who calls: submitters, and workers that settle. What one step sends to one shard is atomic. A crash leaves the
 * steps and shards that were done; whoever submits the same again finds those to be duplicates.
 */
import { setImmediate } from "node:timers/promises";
import type { NewTask } from "../../domain/task.ts";
import { isTrawlError, TrawlError } from "../../errors.ts";
import { BATCH_MOST, type EnqueueAnswer } from "../frontier.ts";
import { jobMissing } from "../job-missing.ts";
import type { Reply, Word } from "./broker.ts";
import type { PageQuota } from "./page-quota.ts";
import { allDone, type Shard, type Shards } from "./shards.ts";
import { createLaneBook, taskWords } from "./words.ts";

/** How soon a submitter that met the cap should come back. */
const FULL_RETRY_MS = 1000;

type Deps = {
  shards: Shards;
  quota: PageQuota;
  /** Shards that had no room when last asked. */
  full: Set<Shard>;
};
type Placed = { task: NewTask; index: number };
type Refused = EnqueueAnswer["refused"][number];
type ReadyStep = { size: number; send(): Promise<PartAnswer> };
/** `taken` is short of the part's length when the cap was met. */
type PartAnswer = { taken: number; queued: number; duplicates: number; refused: Refused[] };

export async function enqueue(
  deps: Deps,
  jobId: string,
  tasks: readonly NewTask[],
  maxPending: number,
): Promise<EnqueueAnswer> {
  const total = { queued: 0, duplicates: 0, refused: [] as Refused[] };
  const stepAt = (from: number) => readyStep(deps, jobId, tasks.slice(from, from + BATCH_MOST), maxPending);
  let ready = stepAt(0);
  // Once even for no tasks at all, so that a job that is missing or has ended is always told.
  for (let from = 0; from === 0 || from < tasks.length; from += BATCH_MOST) {
    const step = ready;
    const underWay = step.send();
    underWay.catch(() => {}); // heard when it is waited for
    if (from + BATCH_MOST < tasks.length) {
      // The next step is put into words while the broker takes this one, once that is on its way: 10,000 URLs are
      // queued in nine tenths of the time.
      await setImmediate();
      ready = stepAt(from + BATCH_MOST);
    }
    const answer = await underWay;
    total.queued += answer.queued;
    total.duplicates += answer.duplicates;
    total.refused.push(...answer.refused.map(({ index, reason }) => ({ index: index + from, reason })));
    if (answer.taken < step.size) {
      return { ...total, full: { taken: from + answer.taken, retryAfterMs: FULL_RETRY_MS } };
    }
  }
  return total;
}

/** Links that a page of `job` led to, ahead of its settlement. They are taken even past the cap. */
export async function discover(
  shard: Shard,
  quota: PageQuota,
  jobId: string,
  links: readonly NewTask[],
): Promise<void> {
  for (let from = 0; from < links.length; from += BATCH_MOST) {
    const step = links.slice(from, from + BATCH_MOST);
    await quota.provide(shard, jobId, step);
    const [, isThere] = await shard.runOnce("discover", jobId, ...wordsOf(step));
    if (isThere !== 1) throw jobMissing(jobId, "frontier.settle");
  }
}

/** All that can be done about a step before the one ahead of it is through. */
function readyStep(deps: Deps, jobId: string, tasks: readonly NewTask[], maxPending: number): ReadyStep {
  const placed = tasks.map((task, index) => ({ task, index }));
  const [only] = deps.shards.all;
  if (only === undefined || deps.shards.all.length > 1) {
    return { size: tasks.length, send: () => enqueueSpread(deps, jobId, placed, maxPending) };
  }
  const words = wordsOf(tasks);
  return { size: tasks.length, send: () => enqueuePart(only, jobId, placed, words, maxPending) };
}

/**
 * Of several shards one may be full when others are not. Shards that were go first, and if they still are, the others
 * get only what comes before: a submitter that waits with the same URLs does not submit them over and over.
 */
async function enqueueSpread(
  { shards, quota, full }: Deps,
  jobId: string,
  placed: readonly Placed[],
  maxPending: number,
): Promise<PartAnswer> {
  const fitting = placed.slice(0, await roomOf(shards, maxPending));
  const parts = splitByShard(shards, fitting);
  // One shard is asked even for no tasks at all.
  if (parts.size === 0) parts.set(shards.home(jobId), []);
  let taken = fitting.length;

  async function offer([shard, part]: [Shard, Placed[]]): Promise<PartAnswer> {
    const own = part.filter(({ index }) => index < taken);
    const ownTasks = own.map(({ task }) => task);
    await quota.provide(shard, jobId, ownTasks);
    const answer = await enqueuePart(shard, jobId, own, wordsOf(ownTasks), maxPending);
    const left = own[answer.taken];
    if (left === undefined) full.delete(shard);
    else {
      full.add(shard);
      taken = Math.min(taken, left.index);
    }
    return answer;
  }

  const doubtful = [...parts].filter(([shard]) => full.has(shard));
  const others = [...parts].filter(([shard]) => !full.has(shard));
  const answers = [...(await allDone(doubtful.map(offer))), ...(await allDone(others.map(offer)))];
  return {
    taken,
    queued: answers.reduce((sum, { queued }) => sum + queued, 0),
    duplicates: answers.reduce((sum, { duplicates }) => sum + duplicates, 0),
    refused: answers
      .flatMap(({ refused }) => refused.filter(({ index }) => index < taken))
      .sort((one, other) => one.index - other.index),
  };
}

function splitByShard(shards: Shards, placed: readonly Placed[]): Map<Shard, Placed[]> {
  const parts = new Map<Shard, Placed[]>();
  for (const one of placed) {
    const shard = shards.ofSite(one.task.site);
    parts.set(shard, [...(parts.get(shard) ?? []), one]);
  }
  return parts;
}

/** Of a cluster no script sees all that waits; the sum is near enough for a cap. */
async function roomOf(shards: Shards, maxPending: number): Promise<number> {
  const counts = await Promise.all(shards.all.map((shard) => shard.ask("HGET", shard.key("meta"), "pending")));
  return Math.max(0, maxPending - counts.reduce<number>((sum, count) => sum + Number(count ?? 0), 0));
}

/** Lanes, then tasks that point at them. */
function wordsOf(tasks: readonly NewTask[]): Word[] {
  const lanes = createLaneBook();
  const words = taskWords(tasks, lanes);
  return [...lanes.words(), ...words];
}

async function enqueuePart(
  shard: Shard,
  jobId: string,
  placed: readonly Placed[],
  words: readonly Word[],
  most: number,
): Promise<PartAnswer> {
  try {
    return readAnswer(await send(shard, jobId, words, most), placed);
  } catch (error) {
    // A server out of memory takes nothing new: the same as meeting the cap.
    if (isTrawlError(error, "BROKER_FULL")) return { taken: 0, queued: 0, duplicates: 0, refused: [] };
    throw error;
  }
}

async function send(shard: Shard, jobId: string, words: readonly Word[], most: number): Promise<Reply> {
  const reply = await shard.runOnce("enqueue", jobId, most, ...words);
  const state = String(reply[1]);
  if (state === "") return reply;
  if (state === "missing") throw jobMissing(jobId, "frontier.enqueue");
  throw new TrawlError("JOB_ENDED", {
    op: "frontier.enqueue",
    message: `job ${jobId} is ${state} and takes no more URLs; start a new job`,
    detail: { jobId, state },
  });
}

function readAnswer(reply: Reply, placed: readonly Placed[]): PartAnswer {
  const [, , taken, queued, duplicates, ...refusals] = reply;
  const refused: Refused[] = [];
  for (let at = 0; at < refusals.length; at += 2) {
    const index = placed[Number(refusals[at])]?.index ?? 0;
    refused.push({ index, reason: refusals[at + 1] as Refused["reason"] });
  }
  return { taken: Number(taken), queued: Number(queued), duplicates: Number(duplicates), refused };
}
