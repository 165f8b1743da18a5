/**
 * Which jobs have somebody to tell, and what is still to be told, in the store beside the records. Any number of workers
 * work on one book; every call is one atomic step. Every implementation passes test/contracts/store/describe-webhook-book.ts:
 *
 * W1 A job has one webhook: adding another changes nothing, and answers with the one that is there, its secret included.
 * W2 An event is added, and the cursor moved behind the records it tells of, in one step, and only by whoever knows how
 *    many events there were: none is lost, none added twice. Its text never changes.
 * W3 An event is listed as unqueued until it is said to be queued, and can be read until it is said to be delivered.
 * W4 A delivery is counted once, however often it is said.
 * W5 A webhook that is due is given to one who asks, and is due again only at the time that one has named.
 * W6 A closed webhook is never due. Reopened it is, for the next round, and may have an end again.
 * W7 An open one is reopened as well: its job may have been seen to end just before. What was known of a round adds no
 *    event to a later one, marks none as queued and does not close it.
 */
import type { WebhookEventType } from "../domain/webhook.ts";

export type NewWebhook = {
  jobId: string;
  endpoint: string;
  /** `whsec_` and base64, as told to the submitter. */
  secret: string;
  events: readonly WebhookEventType[];
  /** Records told of in one event at most. */
  batchRecords: number;
  /** Where its deliveries are queued. */
  queue: string;
  createdAt: number;
};

export type Webhook = NewWebhook & {
  /** Records up to this id are in events. */
  cursor: number;
  /** Events there have been; the number of the next one. */
  nextEvent: number;
  /** The event of the job's end has been added. */
  hasEnd: boolean;
  /** Grows whenever its job may run again, and when the deliveries of a round have ended before all were queued. */
  round: number;
  /** When it is looked at next; undefined: it is closed, all there is to tell is queued. */
  lookAt: number | undefined;
  delivered: number;
  lastDeliveredAt: number | undefined;
  lastFailure: { at: number; words: string } | undefined;
};

export type NewEvent = {
  type: WebhookEventType;
  /** What is sent, to the letter. */
  text: string;
  madeAt: number;
  /** Of the last record in it; the webhook's own where there is none. */
  cursor: number;
};

export type WebhookEvent = { jobId: string; number: number; type: WebhookEventType; text: string; madeAt: number };

export interface WebhookBook {
  /** The job's webhook: this one, or the one that was there. */
  add(webhook: NewWebhook): Promise<Webhook>;
  find(jobId: string): Promise<Webhook | undefined>;
  /** Those due at `now`, the longest due first; each is due again at `againAt`. */
  takeDue(now: number, againAt: number, limit: number): Promise<readonly Webhook[]>;
  /** False where there has been another event or round since, or the webhook has its end or is gone. */
  addEvent(known: Webhook, event: NewEvent): Promise<boolean>;
  /** Numbers, the oldest first. */
  listUnqueued(jobId: string, limit: number): Promise<readonly number[]>;
  /** False, and without effect, in a later round than the one known: those events go out with that one. */
  markQueued(known: Webhook, numbers: readonly number[]): Promise<boolean>;
  findEvent(jobId: string, number: number): Promise<WebhookEvent | undefined>;
  /** Events that are not delivered, of all jobs; takes long where there are many. */
  countEvents(): Promise<number>;
  /** Its text is forgotten. */
  markDelivered(jobId: string, number: number, at: number): Promise<void>;
  noteFailure(jobId: string, at: number, words: string): Promise<void>;
  /** Nothing more is to be told in this round. */
  close(known: Webhook): Promise<void>;
  /** These jobs run again, or may: what they find, and how they end, is told in the next round. */
  reopen(jobIds: readonly string[], now: number): Promise<void>;
  /** The deliveries of the round known take no more: what is not queued is left to the next. All else stays. */
  leaveRound(known: Webhook): Promise<void>;
  /** With all events. */
  remove(jobIds: readonly string[]): Promise<void>;
}
