/**
 * Processes webhooks periodically. Any number of notifiers run on one store, one in every worker. Each due webhook is
 * claimed by one of them. The next time it is due, another one may claim it. When a worker ends a job, its notifier
 * processes the webhook at once.
 */
import type { Log } from "../runtime/log.ts";
import type { Service } from "../runtime/service.ts";
import { processWebhook, type WebhookDeps } from "./process-webhook.ts";

type Notifier = Service & {
  /** Processes the webhook of a job that has just ended, without waiting for the next poll. */
  wake(jobId: string): void;
  /** Whether a call of `wake` is still in progress. */
  isBusy(): boolean;
};

type NotifierOptions = { everyMs: number };

/** Webhooks claimed per query. */
const CLAIM_BATCH = 50;

export function createNotifier(deps: WebhookDeps & { log: Log }, { everyMs }: NotifierOptions): Notifier {
  const { webhooks, clock, log } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const woken = new Set<Promise<void>>();
  let loop: Promise<void> | undefined;

  async function processDue(): Promise<void> {
    for (let taken = CLAIM_BATCH; taken === CLAIM_BATCH && !signal.aborted; ) {
      const now = clock.now();
      const due = await webhooks.claimDue(now, now + everyMs, CLAIM_BATCH);
      taken = due.length;
      for (const webhook of due) {
        if (signal.aborted) return;
        await processWebhook(deps, webhook, signal).catch(failed(webhook.jobId));
      }
    }
  }

  async function runUntilStopped(): Promise<void> {
    while (!signal.aborted) {
      await processDue().catch(failed(undefined));
      await clock.sleep(everyMs, signal);
    }
  }

  async function processNow(jobId: string): Promise<void> {
    const webhook = await webhooks.find(jobId);
    if (webhook?.nextCheckAt !== undefined) await processWebhook(deps, webhook, signal);
  }

  /** Logs a failure. It only delays the work: the next poll finds the same webhooks. */
  function failed(jobId: string | undefined): (cause: unknown) => void {
    return (cause) => log.warn("webhook.check_failed", { jobId, cause });
  }

  return {
    start: () => {
      loop ??= runUntilStopped();
    },
    stop: async () => {
      stopping.abort();
      await Promise.all([loop, ...woken]);
    },
    wake(jobId) {
      if (signal.aborted) return;
      const running: Promise<void> = processNow(jobId)
        .catch(failed(jobId))
        .finally(() => woken.delete(running));
      woken.add(running);
    },
    isBusy: () => woken.size > 0,
  };
}
