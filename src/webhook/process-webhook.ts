/**
 * Creates events for new records and the end of one job, and queues them as deliveries. Every notifier calls it;
 * several may process one webhook at once. After a crash at any point, the next call continues:
 *
 * - adding an event and moving the cursor past its records is one transaction, which only one caller can commit;
 * - an event that is not marked as queued is queued again, which the frontier's dedup makes harmless;
 * - the job is read before its records: if the job had ended at that time, all its records are in the store;
 * - a job that runs again starts another round of its webhook, and calls that still process the earlier round cannot
 *   change the new one.
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
import type { Webhook, WebhookStore } from "../store/webhook-store.ts";
import { deliveryJob, deliveryTask } from "./delivery-job.ts";

export type WebhookDeps = {
  webhooks: WebhookStore;
  store: Pick<Store, "readRecords">;
  frontier: Pick<Frontier, "createJob" | "enqueue" | "seal">;
  /** Also finds archived jobs: the event of their end may not exist yet. */
  findJob(jobId: string): Promise<JobView | undefined>;
  clock: Clock;
  config: Config;
  /** The job as the API returns it. */
  showJob(job: JobView, now: number): unknown;
};

/** If a job does not exist this long after its webhook was added, it was deleted or never created. */
const CREATED_WITHIN_MS = 3_600_000;
/** Events queued per call to the broker. */
const QUEUE_BATCH = 500;
/** Records read per query. */
const READ_BATCH = 200;
/**
 * Record events created per call. A larger backlog is left to the next calls, so that other webhooks are not delayed.
 */
const MAX_EVENTS = 50;

export async function processWebhook(deps: WebhookDeps, webhook: Webhook, signal: AbortSignal): Promise<void> {
  const { webhooks, clock } = deps;
  const job = await deps.findJob(webhook.jobId);
  if (job === undefined) {
    if (clock.now() - webhook.createdAt > CREATED_WITHIN_MS) await webhooks.remove([webhook.jobId]);
    return;
  }
  const hasAllEvents = await addEvents(deps, webhook, job, signal);
  if (hasAllEvents === undefined) return; // another notifier processes it
  const isQueued = await queueEvents(deps, webhook, job, signal);
  // If a later round is closed already, no later call would seal the delivery job that this call has created.
  const isOutdated = !isQueued && (await webhooks.find(webhook.jobId))?.round !== webhook.round;
  if (isOutdated) await sealDeliveries(deps, webhook);
  if (!hasAllEvents || !isQueued || !isOver(job)) return;
  await sealDeliveries(deps, webhook);
  await webhooks.close(webhook);
}

/**
 * Adds the events that are due. Returns true if all of them exist, false if the next call must continue, and undefined
 * if another notifier has added one.
 */
async function addEvents(
  deps: WebhookDeps,
  webhook: Webhook,
  job: JobView,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { webhooks, clock } = deps;
  let known = webhook;
  if (known.hasEnd) return true;
  for (let made = 0; known.events.includes("records"); made += 1) {
    const records = await nextRecords(deps, known, isOver(job));
    const last = records.at(-1);
    if (last === undefined) break;
    if (made === MAX_EVENTS || signal.aborted) return false;
    const content = { job: job.id, after: known.cursor, upTo: last.id, records: records.map(recordLine) };
    const event = eventOf("records", content, clock.now());
    if (!(await webhooks.addEvent(known, { ...event, cursor: last.id }))) return undefined;
    known = { ...known, cursor: last.id, nextEvent: known.nextEvent + 1 };
  }
  const end = endOf(job);
  if (end === undefined || !known.events.includes(end)) return true;
  const event = eventOf(end, { job: deps.showJob(job, clock.now()) }, clock.now());
  return (await webhooks.addEvent(known, { ...event, cursor: known.cursor })) ? true : undefined;
}

/** The next batch if it is full, has waited long enough, or is the rest of a job that has ended; otherwise none. */
async function nextRecords(deps: WebhookDeps, webhook: Webhook, isRest: boolean): Promise<readonly StoredRecord[]> {
  const { batch, isFull } = await readBatch(deps, webhook);
  const [oldest] = batch;
  if (oldest === undefined || isRest || isFull) return batch;
  return deps.clock.now() - oldest.fetchedAt >= deps.config.webhookFlushMs ? batch : [];
}

/**
 * Reads as many records as fit into an event, at least one. Queries are small, because most batches are far below the
 * limit.
 */
async function readBatch({ store, config }: WebhookDeps, { jobId, cursor, batchRecords }: Webhook) {
  const batch: StoredRecord[] = [];
  let bytes = 0;
  for (let after = cursor; batch.length < batchRecords; after = batch.at(-1)?.id ?? after) {
    const wanted = Math.min(READ_BATCH, batchRecords - batch.length);
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

/** A cancelled job has no `finishedAt` while tasks are in flight: they may still produce records. */
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

/** Queues the events as deliveries. Returns whether all of them are queued. */
async function queueEvents(deps: WebhookDeps, webhook: Webhook, job: JobView, signal: AbortSignal): Promise<boolean> {
  const { webhooks, frontier, config } = deps;
  const { jobId, round } = webhook;
  for (let isCreated = false; !signal.aborted; isCreated = true) {
    const numbers = await webhooks.listUnqueued(jobId, QUEUE_BATCH);
    if (numbers.length === 0) return true;
    if (!isCreated) await frontier.createJob(deliveryJob(webhook, job, config));
    const tasks = numbers.map((number) => deliveryTask(webhook, number, config));
    const taken = await enqueue(deps, deliveryJobId(jobId, round), tasks);
    if (taken === undefined) {
      await webhooks.advanceRound(webhook);
      return false;
    }
    const isMarked = await webhooks.markQueued(webhook, numbers.slice(0, taken));
    if (!isMarked || taken < numbers.length) return false; // another round, or the broker is full: the next call continues
  }
  return false;
}

/**
 * Queues deliveries and returns their number. Returns undefined if the delivery job accepts no more, because a replay
 * has started a later round or because the job was sealed. If an operator has cancelled the delivery job, the tasks
 * count as queued and are dropped.
 */
async function enqueue(deps: WebhookDeps, deliveries: string, tasks: readonly NewTask[]): Promise<number | undefined> {
  try {
    return (await deps.frontier.enqueue(deliveries, tasks)).full?.taken ?? tasks.length;
  } catch (error) {
    if (!isTrawlError(error, "JOB_ENDED")) throw error;
    return (await deps.findJob(deliveries))?.state === "cancelled" ? tasks.length : undefined;
  }
}

/**
 * Seals the delivery jobs of this round and of all earlier rounds. An earlier one may be open if the job ran again
 * before its end event was queued.
 */
async function sealDeliveries({ frontier }: WebhookDeps, { jobId, round }: Webhook): Promise<void> {
  for (let nth = 1; nth <= round; nth += 1) {
    try {
      await frontier.seal(deliveryJobId(jobId, nth));
    } catch (error) {
      if (!isTrawlError(error, "JOB_ENDED", "NOT_FOUND")) throw error; // cancelled, or it had no events
    }
  }
}
