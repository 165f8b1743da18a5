/** Follows a job from outside: shows its progress, and notices when it has ended. */
import { clearInterval, setInterval } from "node:timers";
import { hasEnded } from "../domain/job.ts";
import { showable } from "../runtime/showable.ts";
import { createProgress, type Progress, type Watched } from "./progress.ts";
import type { Screen } from "./terminal.ts";

type Place = { findJob(id: string): Promise<Watched | undefined>; now(): number; screen: Screen };
type Watching = { jobId: string; quiet: boolean; isOnlyLook: boolean; everyMs: number };

/** Looks again and again; aborts `over` when the job has ended, through whichever process. */
export function watchJob(
  { findJob, now, screen }: Place,
  { jobId, quiet, isOnlyLook, everyMs }: Watching,
  over: AbortController,
): { stop(): Promise<void> } {
  const progress: Progress | undefined = quiet ? undefined : createProgress(screen);
  let sampling: Promise<void> = Promise.resolve();
  let isLooking = false;
  async function sample(): Promise<void> {
    const job = await findJob(jobId);
    if (job === undefined && isOnlyLook) over.abort();
    if (job === undefined || over.signal.aborted) return;
    progress?.show({ job, at: now(), note: showable(noteOn(job)) });
    if (hasEnded(job.state)) over.abort();
  }
  const timer = setInterval(() => {
    // Looks do not pile up behind one that a slow broker keeps waiting.
    if (isLooking) return;
    isLooking = true;
    // A failed look changes nothing where this process does the work, and notices a broken broker by that.
    sampling = sample()
      .catch(() => isOnlyLook && over.abort())
      .then(() => {})
      .finally(() => {
        isLooking = false;
      });
  }, everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await sampling;
      progress?.clear();
    },
  };
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function noteOn(job: Watched): string {
  if (job.state === "paused") return `paused; go on with: trawl resume ${job.id}`;
  if (job.counts.leased > 0 || job.counts.delayed === 0) return `job ${job.id}  ${job.name}`;
  return `job ${job.id}  waiting: ${job.counts.delayed} to be tried again; why: trawl explain ${job.id}`;
}
