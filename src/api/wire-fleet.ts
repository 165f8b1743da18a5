/** What the API says of dead letters, and of what all jobs share: sites, queues, workers. */
import { z } from "zod";
import { ahead } from "../domain/ahead.ts";
import { formatRate } from "../domain/rate.ts";
import { STEPS } from "../domain/step-url.ts";
import { DEAD_REASONS, type DeadReason } from "../domain/task.ts";
import { ASKED_ORDERS } from "../frontier/frontier.ts";
import type { DeadGroup, QueueView, SiteView, WorkerView } from "../frontier/frontier-admin.ts";
import { placesOn, workerFacts } from "../frontier/worker-facts.ts";
import { placeOfProcess } from "../runtime/process-id.ts";

const count = z.int().min(0);
const instant = z.iso.datetime();
const status = z.int().nullable();

export const deadReason = z.enum(Object.keys(DEAD_REASONS) as [DeadReason, ...DeadReason[]]);

export const deadSchemaOut = z.strictObject({
  taskId: z.string(),
  jobId: z.string(),
  url: z.string(),
  site: z.string(),
  reason: deadReason,
  status,
  diedAt: instant,
  history: z
    .array(z.strictObject({ at: instant, because: z.string(), status, detail: z.string().nullable() }))
    .describe("Its tries, oldest first."),
});

export const deadGroupSchemaOut = z.strictObject({
  reason: deadReason,
  site: z.string(),
  status,
  count,
  sample: z.string().describe("The URL of one of them."),
});

export const siteSchemaOut = z.strictObject({
  site: z.string(),
  rate: z.string().describe("What it gets now: the strictest of its jobs and its robots.txt, or the operator's word."),
  burst: count,
  perSite: count,
  inFlight: count.describe("Requests under way."),
  waiting: count.describe("URLs that wait for it."),
  readyAt: instant.nullable().describe("When the next request may go; null: now."),
  blockedUntil: instant.nullable().describe("Until when it rests; null: it does not."),
  crawlDelayMs: z.number().min(0),
});

/** An operator's word on a site. */
export const siteWordSchemaOut = z.strictObject({
  site: z.string(),
  rate: z.string(),
  burst: z.int(),
  perSite: z.int(),
});
export type SiteWordOut = z.output<typeof siteWordSchemaOut>;

export const explanationSchemaOut = z.strictObject({
  about: z.string(),
  reasons: z.array(z.string()),
  until: instant.nullable().describe("null: now, or nobody knows."),
  tasks: z
    .array(
      z.strictObject({
        jobId: z.string(),
        state: z.enum(["queued", "delayed", "leased", "dead", "ended"]),
        step: z.enum(STEPS).nullable().describe("Which step of the page; null: the page itself."),
      }),
    )
    .describe("Of a URL: the jobs that have it."),
});
export type ExplanationOut = z.output<typeof explanationSchemaOut>;

export const queueSchemaOut = z.strictObject({
  queue: z.string(),
  waiting: count,
  workers: count.describe("Workers that serve it."),
  free: count.describe("Tasks that these could take on now, as last heard."),
});

export const orderSchemaOut = z.enum(ASKED_ORDERS);

export const workerSchemaOut = z.strictObject({
  worker: z.string(),
  host: z.string(),
  pid: z.int().nullable(),
  version: z.string(),
  queues: z.array(z.string()),
  unknownSpiders: z.array(z.string()),
  concurrency: count.nullable(),
  busy: count.nullable(),
  done: count.nullable(),
  failed: count.nullable(),
  rssBytes: count.nullable(),
  memoryMostBytes: count.nullable().describe("Past so much another process takes its place; null: there is no limit."),
  tasksMost: count.nullable().describe("After so many tasks another process takes its place; null: there is no limit."),
  loopUse: z.number().min(0).max(1).nullable().describe("How much of the last seconds its thread was at work."),
  recent: z
    .strictObject({ ms: count, pages: count, done: count, failed: count })
    .nullable()
    .describe("What it did in the last 5 to 10 seconds before `seenAt`, and how many milliseconds that is of."),
  state: z
    .enum(["working", "draining"])
    .nullable()
    .describe("`draining`: it takes no more tasks, and ends when those it has are over. null: an older Trawl."),
  order: orderSchemaOut.nullable().describe("What is asked of it; it hears that within seconds."),
  obeys: z.array(orderSchemaOut).describe("What may be asked of it."),
  supervisor: z.string().nullable(),
  startedAt: instant.nullable(),
  seenAt: instant,
});

export type DeadOut = z.output<typeof deadSchemaOut>;
export type DeadGroupOut = z.output<typeof deadGroupSchemaOut>;
export type SiteOut = z.output<typeof siteSchemaOut>;
export type QueueOut = z.output<typeof queueSchemaOut>;
export type OrderOut = z.output<typeof orderSchemaOut>;
export type WorkerOut = z.output<typeof workerSchemaOut>;

export function deadGroupOut(group: DeadGroup): DeadGroupOut {
  return { ...group, status: group.status ?? null };
}

export function siteOut(view: SiteView, now: number): SiteOut {
  const { site, policy, inFlight, waiting, readyAt, blockedUntil, crawlDelayMs } = view;
  const { intervalMs, burst, perSite } = policy;
  return {
    ...{ site, rate: formatRate(intervalMs), burst, perSite, inFlight, waiting },
    readyAt: aheadOut(readyAt, now),
    blockedUntil: aheadOut(blockedUntil, now),
    crawlDelayMs,
  };
}

/** Queues on which something waits, and those that somebody serves. */
export function queuesOut(queues: readonly QueueView[], workers: readonly WorkerView[]): QueueOut[] {
  const waiting = new Map(queues.map((view) => [view.queue, view.waiting]));
  const names = new Set([...waiting.keys(), ...workers.flatMap((worker) => worker.queues)]);
  return [...names].sort().map((queue) => {
    const { serving, free } = placesOn(queue, workers);
    return { queue, waiting: waiting.get(queue) ?? 0, workers: serving, free };
  });
}

export function workerOut(view: WorkerView): WorkerOut {
  const { worker, queues, unknownSpiders, version } = view;
  const { host, pid = null } = placeOfProcess(worker);
  return {
    ...{ worker, host, pid, version, queues: [...queues], unknownSpiders: [...unknownSpiders] },
    ...workerFacts(view),
  };
}

function aheadOut(at: number, now: number): string | null {
  const instant = ahead(at, now);
  return instant === undefined ? null : new Date(instant).toISOString();
}
