/**
 * Turns what has become of one job into events, and events into deliveries. Called by every notifier; several may look at
 * one webhook at once. A crash between any two steps leaves it to the next look:
 *
 * - an event and the cursor behind its records are one step in the store, which only one of those who look can make;
 * - an event that is not marked as queued is queued again, which the frontier's dedup makes harmless;
 * - the job is looked at before its records are read: if it had ended by then, they are all there;
 * - a job that runs again is in another round of its webhook, and what was seen before then has no effect on that one.
 */
import type { Config } from "../config/schema.ts";
import { hasEnded } from "../domain/job.ts";
import type { NewTask } from "../domain/task.ts";
import { deliveryJobId, type WebhookEventType } from "../domain/webhook.ts";
import { isTrawlError } from "../errors.ts";
import type { Frontier } from "../frontier/frontier.ts";
import type { JobView } from "../frontier/frontier-admin.ts";
import type { Clock } from "../runtime/clock.ts";
import { recordLine } from "../store/export/record-line.ts";
import type { Store, StoredRecord } from "../store/store.ts";
import type { Webhook, WebhookBook } from "../store/webhook-book.ts";
import { deliveryJob, deliveryTask } from "./delivery-job.ts";

export type LookDeps = {
  book: WebhookBook;
  store: Pick<Store, "readRecords">;
  frontier: Pick<Frontier, "createJob" | "enqueue" | "seal">;
  /** Also where it has left the broker: its end may not have been told yet. */
  findJob(jobId: string): Promise<JobView | undefined>;
  clock: Clock;
  config: Config;
  /** The job as the API shows it. */
  showJob(job: JobView, now: number): unknown;
};

/** A job that is not there so long after it was noted was removed, or never made. */
const MADE_WITHIN_MS = 3_600_000;
/** Events queued at a time. */
const QUEUE_MOST = 500;
/** Records read at a time. */
const READ_MOST = 200;
/** Events of records that one look makes: a huge backlog is left to the next looks, so that others have their turn. */
const EVENTS_MOST = 50;

export async function lookAtWebhook(deps: LookDeps, webhook: Webhook, signal: AbortSignal): Promise<void> {
  const { book, clock } = deps;
  const job = await deps.findJob(webhook.jobId);
  if (job === undefined) {
    if (clock.now() - webhook.createdAt > MADE_WITHIN_MS) await book.remove([webhook.jobId]);
    return;
  }
  const isTold = await addEvents(deps, webhook, job, signal);
  if (isTold === undefined) return; // somebody else is at it
  const isQueued = await queueEvents(deps, webhook, job, signal);
  // Whoever closed a later round did not know of deliveries that we have begun since.
  const isPast = !isQueued && (await book.find(webhook.jobId))?.round !== webhook.round;
  if (isPast) await sealDeliveries(deps, webhook);
  if (!isTold || !isQueued || !isOver(job)) return;
  await sealDeliveries(deps, webhook);
  await book.close(webhook);
}

/** Whether all there is to tell now is in events; undefined where another has added one meanwhile. */
async function addEvents(
  deps: LookDeps,
  webhook: Webhook,
  job: JobView,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { book, clock } = deps;
  let known = webhook;
  if (known.hasEnd) return true;
  for (let made = 0; known.events.includes("records"); made += 1) {
    const records = await nextRecords(deps, known, isOver(job));
    const last = records.at(-1);
    if (last === undefined) break;
    if (made === EVENTS_MOST || signal.aborted) return false;
    const content = { job: job.id, after: known.cursor, upTo: last.id, records: records.map(recordLine) };
    const event = eventOf("records", content, clock.now());
    if (!(await book.addEvent(known, { ...event, cursor: last.id }))) return undefined;
    known = { ...known, cursor: last.id, nextEvent: known.nextEvent + 1 };
  }
  const end = endOf(job);
  if (end === undefined || !known.events.includes(end)) return true;
  const event = eventOf(end, { job: deps.showJob(job, clock.now()) }, clock.now());
  return (await book.addEvent(known, { ...event, cursor: known.cursor })) ? true : undefined;
}

/** A batch that is full, or that has waited long enough, or the rest of a job that has ended. */
async function nextRecords(deps: LookDeps, webhook: Webhook, isRest: boolean): Promise<readonly StoredRecord[]> {
  const { batch, isFull } = await readBatch(deps, webhook);
  const [oldest] = batch;
  if (oldest === undefined || isRest || isFull) return batch;
  return deps.clock.now() - oldest.fetchedAt >= deps.config.webhookFlushMs ? batch : [];
}

/** As many as fit, and at least one; read a few at a time, since a batch may be allowed to be far larger than it will be. */
async function readBatch({ store, config }: LookDeps, { jobId, cursor, batchRecords }: Webhook) {
  const batch: StoredRecord[] = [];
  let bytes = 0;
  for (let after = cursor; batch.length < batchRecords; after = batch.at(-1)?.id ?? after) {
    const wanted = Math.min(READ_MOST, batchRecords - batch.length);
    const read = await store.readRecords(jobId, after, wanted);
    for (const record of read) {
      bytes += JSON.stringify(record.fields).length;
      if (bytes > config.webhookBytes && batch.length > 0) return { batch, isFull: true };
      batch.push(record);
    }
    if (read.length < wanted) return { batch, isFull: false };
  }
  return { batch, isFull: true };
}

/** What is under way when a job is cancelled may still bring records. */
function isOver({ state, finishedAt }: JobView): boolean {
  return hasEnded(state) && finishedAt !== undefined;
}

function endOf(job: JobView): WebhookEventType | undefined {
  const { state } = job;
  if (!isOver(job)) return undefined;
  return state === "finished" || state === "failed" || state === "cancelled" ? `job.${state}` : undefined;
}

function eventOf(type: WebhookEventType, content: unknown, now: number) {
  const madeAt = Math.floor(now);
  return { type, madeAt, text: JSON.stringify({ type, timestamp: new Date(madeAt).toISOString(), data: content }) };
}

/** Whether nothing is left to be queued. */
async function queueEvents(deps: LookDeps, webhook: Webhook, job: JobView, signal: AbortSignal): Promise<boolean> {
  const { book, frontier, config } = deps;
  const { jobId, round } = webhook;
  for (let isMade = false; !signal.aborted; isMade = true) {
    const numbers = await book.listUnqueued(jobId, QUEUE_MOST);
    if (numbers.length === 0) return true;
    if (!isMade) await frontier.createJob(deliveryJob(webhook, job, config));
    const tasks = numbers.map((number) => deliveryTask(webhook, number, config));
    const taken = await take(deps, deliveryJobId(jobId, round), tasks);
    if (taken === undefined) {
      await book.leaveRound(webhook);
      return false;
    }
    const isMarked = await book.markQueued(webhook, numbers.slice(0, taken));
    if (!isMarked || taken < numbers.length) return false; // another round, or a full broker: the next look goes on
  }
  return false;
}

/**
 * How many were queued; undefined where the job takes no more, since a replay has led to a round after its own, or since
 * somebody has sealed it. Deliveries that somebody has cancelled are not begun again: they are taken, and that is all.
 */
async function take(deps: LookDeps, deliveries: string, tasks: readonly NewTask[]): Promise<number | undefined> {
  try {
    return (await deps.frontier.enqueue(deliveries, tasks)).full?.taken ?? tasks.length;
  } catch (error) {
    if (!isTrawlError(error, "JOB_ENDED")) throw error;
    return (await deps.findJob(deliveries))?.state === "cancelled" ? tasks.length : undefined;
  }
}

/** Jobs of rounds before may have been left open, by a job that ran again before its end was told. */
async function sealDeliveries({ frontier }: LookDeps, { jobId, round }: Webhook): Promise<void> {
  for (let nth = 1; nth <= round; nth += 1) {
    try {
      await frontier.seal(deliveryJobId(jobId, nth));
    } catch (error) {
      if (!isTrawlError(error, "JOB_ENDED", "NOT_FOUND")) throw error; // cancelled; or there was nothing to tell
    }
  }
}
