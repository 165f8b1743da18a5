/**
 * Webhooks of jobs and their undelivered events, in the store. Any number of workers use it at once; every change is
 * one transaction. Every implementation passes test/contracts/store/describe-webhooks.ts:
 *
 * W1 A job has one webhook. Adding another changes nothing and returns the existing one, including its secret.
 * W2 Adding an event and moving the cursor past its records is atomic, and succeeds only if the caller knows the
 *    current number of events. So no event is lost or added twice. The text of an event never changes.
 * W3 An event is listed as unqueued until it is marked as queued, and can be read until it is marked as delivered.
 * W4 A delivery is counted once, however often it is marked.
 * W5 Only one caller claims a due webhook. The webhook is due again at the time that this caller gave.
 * W6 A closed webhook is never due. Reopening makes it due for the next round, in which it may have an end event again.
 * W7 An open webhook can be reopened too: a notifier may have just read that its job has ended. A caller that knows
 *    only an earlier round adds no event to a later one, marks no event as queued and does not close the webhook.
 */
import type { WebhookEventType } from "../domain/webhook.ts";

export type NewWebhook = {
  jobId: string;
  endpoint: string;
  /** `whsec_` and base64, as returned to the submitter. */
  secret: string;
  events: readonly WebhookEventType[];
  /** Maximum number of records in one event. */
  batchRecords: number;
  /** The queue of its deliveries. */
  queue: string;
  createdAt: number;
};

export type Webhook = NewWebhook & {
  /** Records up to this id are in events. */
  cursor: number;
  /** Number of the next event; the first is 1. */
  nextEvent: number;
  /** Whether the event of the job's end was added. */
  hasEnd: boolean;
  /**
   * Increases whenever the job may run again, and when the delivery job of a round ended before all events were queued.
   */
  round: number;
  /** When a notifier processes it next; undefined: closed, all its events are queued. */
  nextCheckAt: number | undefined;
  delivered: number;
  lastDeliveredAt: number | undefined;
  lastFailure: { at: number; message: string } | undefined;
};

export type NewEvent = {
  type: WebhookEventType;
  /** The exact request body. */
  text: string;
  madeAt: number;
  /** Id of the last record in the event; the webhook's cursor if it has no records. */
  cursor: number;
};

export type StoredEvent = { jobId: string; number: number; type: WebhookEventType; text: string; madeAt: number };

export interface WebhookStore {
  /** Returns the job's webhook: the new one, or the existing one. */
  add(webhook: NewWebhook): Promise<Webhook>;
  find(jobId: string): Promise<Webhook | undefined>;
  /** Webhooks that are due at `now`, the earliest first. Each is due again at `againAt`. */
  claimDue(now: number, againAt: number, limit: number): Promise<readonly Webhook[]>;
  /**
   * Adds an event. Returns false if an event was added or a round was started after `known` was read, if the webhook
   * has its end event, or if the webhook is gone.
   */
  addEvent(known: Webhook, event: NewEvent): Promise<boolean>;
  /** Numbers of the events that are not queued, the oldest first. */
  listUnqueued(jobId: string, limit: number): Promise<readonly number[]>;
  /** Marks events as queued. Returns false and changes nothing if a later round has begun: it queues these events. */
  markQueued(known: Webhook, numbers: readonly number[]): Promise<boolean>;
  findEvent(jobId: string, number: number): Promise<StoredEvent | undefined>;
  /** Counts undelivered events of all jobs. Slow if there are many. */
  countEvents(): Promise<number>;
  /** Counts the delivery and removes the event. */
  markDelivered(jobId: string, number: number, at: number): Promise<void>;
  recordFailure(jobId: string, at: number, message: string): Promise<void>;
  /** Closes the webhook, unless a later round has begun. */
  close(known: Webhook): Promise<void>;
  /**
   * Starts the next round of these jobs, which may run again: new records and the end of the job become events again.
   */
  reopen(jobIds: readonly string[], now: number): Promise<void>;
  /** Starts the next round because the delivery job of the known one accepts no more tasks. Changes nothing else. */
  advanceRound(known: Webhook): Promise<void>;
  /** Removes webhooks and all their events. */
  remove(jobIds: readonly string[]): Promise<void>;
}
