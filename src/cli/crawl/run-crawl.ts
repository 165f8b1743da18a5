/** Runs one job to its end in this process: worker, progress, records out. */
import { clearInterval, setInterval } from "node:timers";
import { hasEnded } from "../../domain/job.ts";
import { isTrawlError, TrawlError } from "../../errors.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { createProgress, type Progress } from "../progress.ts";
import type { Session } from "../session.ts";
import type { Stops } from "../stops.ts";
import { createRecordStream } from "./record-stream.ts";

export type CrawlRun = {
  jobId: string;
  queue: string;
  allowHosts: readonly string[];
  quiet: boolean;
  /** Records go to stdout as they come. */
  stream: boolean;
};

export type CrawlEnd = { job: JobView; interrupted: boolean; seconds: number };

const SAMPLE_MS = 200;

export async function runCrawl(session: Session, stops: Stops, run: CrawlRun): Promise<CrawlEnd> {
  const { trawl } = session;
  const startedAt = trawl.clock.now();
  const over = new AbortController();
  const worker = trawl.createWorker({
    queues: [run.queue],
    allowHosts: run.allowHosts,
    onFinished: (jobId) => jobId === run.jobId && over.abort(),
  });
  const stopped = stops.once(() => {
    session.screen.err("\nstopping: letting running requests finish (again to stop at once)\n");
    over.abort();
  });
  const display = startDisplay(session, run, over);
  const stream = run.stream ? createRecordStream(trawl, run.jobId, session.screen.out) : undefined;
  worker.start();
  stream?.start();
  try {
    await Promise.race([aborted(over.signal), worker.ended]);
  } finally {
    await worker.stop();
    stopped.forget();
    await display.stop();
    await stream?.stop();
  }
  await worker.ended; // throws what broke it
  const job = await restingJob(session, run.jobId);
  return { job, interrupted: !hasEnded(job.state), seconds: (trawl.clock.now() - startedAt) / 1000 };
}

/** A crawl nobody is running is paused: its limits no longer hold for other crawls of the same sites. */
async function restingJob(session: Session, jobId: string): Promise<JobView> {
  const job = await getJob(session, jobId);
  if (hasEnded(job.state)) return job;
  return session.trawl.frontier.pause(jobId).catch((error: unknown) => {
    if (isTrawlError(error, "JOB_ENDED")) return getJob(session, jobId); // the last of it ended just now
    throw error;
  });
}

/** The job as it stands, or NOT_FOUND. */
export async function getJob({ trawl }: Session, jobId: string): Promise<JobView> {
  const job = await trawl.frontier.findJob(jobId);
  if (job !== undefined) return job;
  throw new TrawlError("NOT_FOUND", {
    op: "cli",
    message: `no job ${jobId} in this broker; list what is there with: trawl jobs`,
    detail: { jobId },
  });
}

/** Shows progress, and notices when the job ends through another process. */
function startDisplay(session: Session, run: CrawlRun, over: AbortController): { stop(): Promise<void> } {
  const progress: Progress | undefined = run.quiet ? undefined : createProgress(session.screen);
  let sampling: Promise<void> = Promise.resolve();
  async function sample(): Promise<void> {
    const job = await session.trawl.frontier.findJob(run.jobId);
    if (job === undefined || over.signal.aborted) return;
    progress?.show({ job, at: session.trawl.clock.now(), note: noteOn(job) });
    if (job.state === "paused") return;
    if (hasEnded(job.state)) over.abort();
  }
  const timer = setInterval(() => {
    // A failed look changes nothing: the worker notices a broken broker by itself.
    sampling = sampling.then(sample).catch(() => {});
  }, SAMPLE_MS);
  return {
    async stop() {
      clearInterval(timer);
      await sampling;
      progress?.clear();
    },
  };
}

function noteOn(job: JobView): string {
  if (job.state === "paused") return `paused; go on with: trawl resume ${job.id}`;
  if (job.counts.leased > 0 || job.counts.delayed === 0) return `job ${job.id}  ${job.name}`;
  return `job ${job.id}  waiting: ${job.counts.delayed} to be tried again; why: trawl explain ${job.id}`;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
