/** Runs one job to its end in this process: worker, progress, records out. */
import { hasEnded } from "../../domain/job.ts";
import { isTrawlError } from "../../errors.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { UNWATCHED } from "../../worker/task-watch.ts";
import type { Session } from "../session.ts";
import type { Stops } from "../stops.ts";
import { aborted, getJob, watchJob } from "../watch-job.ts";
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

export async function runCrawl(session: Session, stops: Stops, run: CrawlRun): Promise<CrawlEnd> {
  const { trawl } = session;
  const startedAt = trawl.clock.now();
  const over = new AbortController();
  const worker = await trawl.createWorker({
    queues: [run.queue],
    allowHosts: run.allowHosts,
    unreadableJob: "ends-worker",
    onFinished: (jobId) => jobId === run.jobId && over.abort(),
    watch: UNWATCHED,
    maxTasks: Number.POSITIVE_INFINITY,
  });
  const stopped = stops.once(() => {
    session.screen.err("\nstopping: letting running requests finish (again to stop at once)\n");
    over.abort();
  });
  const strays = stops.onStray(worker.findCulprit);
  const display = watchJob(session, { ...run, isOnlyLook: false }, over);
  const stream = run.stream ? createRecordStream(trawl, run.jobId, session.screen.out) : undefined;
  worker.start();
  stream?.start();
  try {
    await Promise.race([aborted(over.signal), worker.ended]);
  } finally {
    await worker.stop();
    stopped.forget();
    strays.forget();
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
