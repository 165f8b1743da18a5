/** Polls a job, shows its progress and detects its end. */
import { clearInterval, setInterval } from "node:timers";
import { plural } from "../domain/format-number.ts";
import { hasEnded } from "../domain/job.ts";
import { showable } from "../runtime/showable.ts";
import { createProgress, type Progress, type Watched } from "./progress.ts";
import type { Screen } from "./terminal.ts";

type Deps = {
  findJob(id: string): Promise<Watched | undefined>;
  now(): number;
  screen: Screen;
  /** What slows down the job now. */
  note?(): string | undefined;
};
/** `isObserver`: this process only watches the job, and other processes run its tasks. */
type Options = { jobId: string; quiet: boolean; isObserver: boolean; everyMs: number };

/** Polls the job every `everyMs`, and aborts `over` when it has ended in any process. */
export function watchJob(
  { findJob, now, screen, note }: Deps,
  { jobId, quiet, isObserver, everyMs }: Options,
  over: AbortController,
): { stop(): Promise<void> } {
  const progress: Progress | undefined = quiet ? undefined : createProgress(screen);
  let sampling: Promise<void> = Promise.resolve();
  let isPolling = false;
  async function sample(): Promise<void> {
    const job = await findJob(jobId);
    if (job === undefined && isObserver) over.abort();
    if (job === undefined || over.signal.aborted) return;
    progress?.show({ job, at: now(), note: showable(note?.() ?? noteOn(job, screen)) });
    if (hasEnded(job.state)) over.abort();
  }
  const timer = setInterval(() => {
    // Polls do not queue up behind one that waits for a slow broker.
    if (isPolling) return;
    isPolling = true;
    // If this process also does the work, its worker reports a lost broker, and a failed poll can be ignored.
    sampling = sample()
      .catch(() => isObserver && over.abort())
      .then(() => {})
      .finally(() => {
        isPolling = false;
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

function noteOn(job: Watched, { command }: Screen): string {
  if (job.state === "paused") return `paused; resume with: ${command} resume ${job.id}`;
  if (job.counts.leased > 0 || job.counts.delayed === 0) return `job ${job.id}  ${job.name}`;
  return `waiting to retry ${plural(job.counts.delayed, "URL")}; details: ${command} explain ${job.id}`;
}
