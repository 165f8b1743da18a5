/**
 * Retention: archives jobs that ended long ago, and removes the data of deleted jobs, orphan bodies and old history. It
 * runs in every server and worker.
 */
import type { Log } from "../runtime/log.ts";
import type { Service } from "../runtime/service.ts";
import { BUCKET_WIDTHS_MS, type HistoryStore } from "../store/history-store.ts";
import { archiveEnded } from "./archive-ended.ts";
import { cleanUpAll, cleanUpThese, type DeleteDeps } from "./delete-job.ts";
import { removeOrphanBodies } from "./orphan-bodies.ts";

export type RetentionDeps = DeleteDeps &
  Parameters<typeof archiveEnded>[0] &
  Parameters<typeof removeOrphanBodies>[0] & { history: Pick<HistoryStore, "prune">; log: Log };

/** How long history is kept, for each of BUCKET_WIDTHS_MS. */
type HistoryRetention = readonly [fineMs: number, mediumMs: number, coarseMs: number];

type RetentionOptions = {
  /** How long ended jobs stay in the broker; `Infinity` means forever. */
  keepEndedMs: number;
  keepHistory: HistoryRetention;
  everyMs: number;
};

export type Retention = Service & {
  /** Runs one round now. */
  sweep(): Promise<void>;
  /** Starts the next round of the loop at once. */
  nudge(): void;
};

/** Delay before deleted jobs with tasks in flight are cleaned up again. */
const RETRY_MS = 2_000;

/** More buckets than are created between two rounds, and few enough for a short transaction. */
const PRUNE_BATCH = 500;

export function createRetention(
  deps: RetentionDeps,
  { keepEndedMs, keepHistory, everyMs }: RetentionOptions,
): Retention {
  const { clock, log } = deps;
  const stopping = new AbortController();
  const { signal } = stopping;
  let nudged = new AbortController();
  let loop: Promise<void> | undefined;
  let inFlight: readonly string[] = [];

  async function sweep(): Promise<void> {
    inFlight = await cleanUpAll(deps, signal);
    if (Number.isFinite(keepEndedMs)) {
      const archived = await archiveEnded(deps, clock.now() - keepEndedMs, signal);
      if (archived > 0) log.info("retention.archived", { jobs: archived });
    }
    await removeOrphanBodies(deps, signal);
    await pruneHistory();
  }

  /**
   * Cleans up the deleted jobs that had tasks in flight. Such a task may leave a dead letter, which must not stay
   * visible until the next round.
   */
  async function cleanUpInFlight(): Promise<void> {
    inFlight = await cleanUpThese(deps, inFlight, signal);
  }

  /** Removes a limited number of buckets of each width. The next rounds remove the rest. */
  async function pruneHistory(): Promise<void> {
    for (const [nth, width] of BUCKET_WIDTHS_MS.entries()) {
      if (signal.aborted) return;
      await deps.history.prune(width, Math.floor(clock.now() - (keepHistory[nth] ?? 0)), PRUNE_BATCH);
    }
  }

  async function sweepUntilStopped(): Promise<void> {
    for (let dueAt = clock.now() + everyMs; !signal.aborted; ) {
      const untilDue = Math.max(0, dueAt - clock.now());
      await clock.sleep(inFlight.length === 0 ? untilDue : Math.min(untilDue, RETRY_MS), nudged.signal);
      const isDue = nudged.signal.aborted || clock.now() >= dueAt;
      nudged = new AbortController();
      if (signal.aborted) return;
      // A failed sweep only delays the work: the next one finds the same jobs.
      await (isDue ? sweep() : cleanUpInFlight()).catch((cause: unknown) =>
        log.warn("retention.sweep_failed", { cause }),
      );
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
