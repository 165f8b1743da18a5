/**
 * Looks after webhooks: of each that is due, what has become of its job. Any number of notifiers run on one book, one in
 * every worker; a webhook that is due is looked at by one of them, and again by any a while later. The job that a worker
 * has just brought to its end is looked at at once.
 */
import type { Log } from "../runtime/log.ts";
import type { Service } from "../runtime/service.ts";
import { type LookDeps, lookAtWebhook } from "./look-at-webhook.ts";

export type Notifier = Service & {
  /** A job has ended: whoever is to hear of it shall do so soon. */
  wake(jobId: string): void;
  /** Whether it is looking at something that it was woken for. */
  isBusy(): boolean;
};

export type NotifierOptions = { everyMs: number };

/** Webhooks taken at a time. */
const DUE_MOST = 50;

export function createNotifier(deps: LookDeps & { log: Log }, { everyMs }: NotifierOptions): Notifier {
  const { book, clock, log } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  const woken = new Set<Promise<void>>();
  let loop: Promise<void> | undefined;

  async function lookAround(): Promise<void> {
    for (let taken = DUE_MOST; taken === DUE_MOST && !signal.aborted; ) {
      const now = clock.now();
      const due = await book.takeDue(now, now + everyMs, DUE_MOST);
      taken = due.length;
      for (const webhook of due) {
        if (signal.aborted) return;
        await lookAtWebhook(deps, webhook, signal).catch(failed(webhook.jobId));
      }
    }
  }

  async function lookUntilStopped(): Promise<void> {
    while (!signal.aborted) {
      await lookAround().catch(failed(undefined));
      await clock.sleep(everyMs, signal);
    }
  }

  async function lookNow(jobId: string): Promise<void> {
    const webhook = await book.find(jobId);
    if (webhook?.lookAt !== undefined) await lookAtWebhook(deps, webhook, signal);
  }

  /** A failed look is only late work: the next one finds the same. */
  function failed(jobId: string | undefined): (cause: unknown) => void {
    return (cause) => log.warn("webhook.look_failed", { jobId, cause });
  }

  return {
    start: () => {
      loop ??= lookUntilStopped();
    },
    stop: async () => {
      stopping.abort();
      await Promise.all([loop, ...woken]);
    },
    wake(jobId) {
      if (signal.aborted) return;
      const looking: Promise<void> = lookNow(jobId)
        .catch(failed(jobId))
        .finally(() => woken.delete(looking));
      woken.add(looking);
    },
    isBusy: () => woken.size > 0,
  };
}
