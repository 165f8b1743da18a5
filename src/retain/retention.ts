/** What runs in every server and worker: jobs that ended long ago leave the broker, deleted ones leave everything. */
import type { Log } from "../runtime/log.ts";
import type { Service } from "../runtime/service.ts";
import { archiveEnded } from "./archive-ended.ts";
import { cleanUpAll, cleanUpThese, type DeleteDeps } from "./delete-job.ts";
import { removeLoose } from "./loose-bodies.ts";
import { type HistoryKept, pruneHistory } from "./prune-history.ts";

export type RetentionDeps = DeleteDeps &
  Parameters<typeof archiveEnded>[0] &
  Parameters<typeof removeLoose>[0] &
  Parameters<typeof pruneHistory>[0] & { log: Log };

export type RetentionOptions = {
  /** How long jobs stay in the broker after their end; Infinity: for good. */
  keepEndedMs: number;
  keepHistory: HistoryKept;
  everyMs: number;
};

export type Retention = Service & {
  /** One round; for whoever cannot wait. */
  sweep(): Promise<void>;
  /** There is something to do: do not wait for the next round. */
  nudge(): void;
};

/** When deleted jobs that had something under way are looked at again. */
const SOON_MS = 2_000;

export function createRetention(
  deps: RetentionDeps,
  { keepEndedMs, keepHistory, everyMs }: RetentionOptions,
): Retention {
  const { clock, log } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  let nudged = new AbortController();
  let loop: Promise<void> | undefined;
  let underWay: readonly string[] = [];

  async function sweep(): Promise<void> {
    underWay = await cleanUpAll(deps, signal);
    if (Number.isFinite(keepEndedMs)) {
      const left = await archiveEnded(deps, clock.now() - keepEndedMs, signal);
      if (left > 0) log.info("retention.archived", { jobs: left });
    }
    await removeLoose(deps, signal);
    await pruneHistory(deps, keepHistory, signal);
  }

  /** A task that ends after its job was deleted may leave a dead letter: nobody is to meet that for a whole round. */
  async function finish(): Promise<void> {
    underWay = await cleanUpThese(deps, underWay, signal);
  }

  async function sweepUntilStopped(): Promise<void> {
    for (let dueAt = clock.now() + everyMs; !signal.aborted; ) {
      const untilDue = Math.max(0, dueAt - clock.now());
      await clock.sleep(underWay.length === 0 ? untilDue : Math.min(untilDue, SOON_MS), nudged.signal);
      const isDue = nudged.signal.aborted || clock.now() >= dueAt;
      nudged = new AbortController();
      if (signal.aborted) return;
      // A failed sweep is only late work: the next one finds the same jobs.
      await (isDue ? sweep() : finish()).catch((cause: unknown) => log.warn("retention.sweep_failed", { cause }));
      if (isDue) dueAt = clock.now() + everyMs;
    }
  }

  return {
    sweep,
    nudge: () => nudged.abort(),
    start: () => {
      loop ??= sweepUntilStopped();
    },
    stop: async () => {
      stopping.abort();
      nudged.abort();
      await loop;
    },
  };
}
