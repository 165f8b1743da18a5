/** Runs one job to its end, in this process or in child processes, with progress display and record stream. */

import { getKnownJob } from "../../control/catalogue.ts";
import { hasEnded } from "../../domain/job.ts";
import { isTrawlError } from "../../errors.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import type { Service } from "../../runtime/service.ts";
import type { OnSelector } from "../../spider/spider-reader.ts";
import { linesTo } from "../log-lines.ts";
import type { CommandSession } from "../session.ts";
import type { Shutdown } from "../shutdown.ts";
import { type Screen, steps } from "../terminal.ts";
import { aborted, watchJob } from "../watch-job.ts";
import { createPoolOutput } from "../worker/pool-output.ts";
import { createPool, type PoolGroup } from "../worker/run-pool.ts";
import { untilDelivered } from "./deliveries.ts";
import { createRateWatch } from "./rate-watch.ts";
import { createRecordStream } from "./record-stream.ts";

type CrawlRun = {
  jobId: string;
  queue: string;
  allowHosts: readonly string[];
  quiet: boolean;
  /** Whether records are written to stdout as they are stored. */
  stream: boolean;
  /** The child processes that do the work; undefined if this process does it. */
  group: PoolGroup | undefined;
  /** Whether starts and ends of processes are printed, and not only crashes. */
  showsProcesses: boolean;
};

/** How often the job is polled for the display. */
const SAMPLE_MS = 200;

export type CrawlEnd = {
  job: JobView;
  interrupted: boolean;
  seconds: number;
  /** Selectors that a spider passed to `follow` and that matched nothing in this run. */
  unmatched: readonly string[];
  /**
   * One sentence for each site whose rate was set by another job or an operator, or lowered because of its responses.
   */
  rates: readonly string[];
};

export async function runCrawl(session: CommandSession, shutdown: Shutdown, run: CrawlRun): Promise<CrawlEnd> {
  const { trawl } = session;
  const startedAt = trawl.clock.now();
  const over = new AbortController();
  const ended = new AbortController();
  const onFinished = (jobId: string) => jobId === run.jobId && ended.abort();
  const selectors = new Map<string, boolean>();
  const onSelector: OnSelector = (selector, hasMatched) =>
    selectors.set(selector, hasMatched || selectors.get(selector) === true);
  const events = { onFinished, onSelector };
  // The crawl's workers also deliver its webhook events, so they run until the events are delivered.
  ended.signal.addEventListener("abort", () => {
    void untilDelivered(session, run, over.signal)
      .catch(() => {}) // the report lists undelivered events
      .finally(() => over.abort());
  });
  const runner =
    run.group === undefined
      ? await workHere(session, shutdown, run, events)
      : workInPool(session, shutdown, run.group, run, events);
  const stopped = shutdown.onStop((cause) => {
    const why = cause === "output" ? "stdout was closed" : "press Ctrl-C again to stop now";
    session.screen.err(`\nstopping: waiting for running requests (${why})\n`);
    over.abort();
    ended.abort(); // ends the progress display
  });
  const rateWatch = createRateWatch(trawl, run.jobId);
  const deps = {
    findJob: (id: string) => trawl.frontier.findJob(id),
    now: trawl.clock.now,
    screen: session.screen,
    note: rateWatch.current,
  };
  const display = watchJob(deps, { ...run, isObserver: false, everyMs: SAMPLE_MS }, ended);
  const stream = run.stream ? createRecordStream(trawl, run.jobId, session.screen.out) : undefined;
  runner.start();
  stream?.start();
  rateWatch.start();
  try {
    await Promise.race([aborted(over.signal), runner.ended]);
  } finally {
    await runner.stop();
    stopped.remove();
    runner.removeListeners();
    await display.stop();
    await stream?.stop();
    await rateWatch.stop();
  }
  await runner.ended; // rejects if the broker or store was lost
  const job = await pausedJob(session, run.jobId);
  const unmatched = [...selectors].filter(([, hasMatched]) => !hasMatched).map(([selector]) => selector);
  const seconds = (trawl.clock.now() - startedAt) / 1000;
  return { job, interrupted: !hasEnded(job.state), seconds, unmatched, rates: rateWatch.notes() };
}

type CrawlEvents = { onFinished(jobId: string): void; onSelector: OnSelector };

/** The worker in this process, or the supervisor of the child processes. */
type Runner = Service & { ended: Promise<void>; removeListeners(): void };

async function workHere(
  { trawl, screen }: CommandSession,
  shutdown: Shutdown,
  { jobId, queue, allowHosts }: CrawlRun,
  events: CrawlEvents,
): Promise<Runner> {
  const worker = await trawl.createWorker({
    queues: [queue],
    allowHosts,
    mayUseAllSecrets: true,
    unreadableJob: "ends-worker",
    ...events,
    maxTasks: Number.POSITIVE_INFINITY,
  });
  const listeners = [
    shutdown.onHandlerError(worker.currentHandlerPage, () => screen.err(stoppedText(jobId, screen))),
    shutdown.onKill(() => screen.err(stoppedText(jobId, screen))),
  ];
  return {
    ...worker,
    removeListeners() {
      for (const { remove } of listeners) remove();
    },
  };
}

function workInPool(
  session: CommandSession,
  shutdown: Shutdown,
  group: PoolGroup,
  { jobId, showsProcesses }: CrawlRun,
  { onFinished: finished, onSelector }: CrawlEvents,
): Runner {
  const { screen, config } = session;
  const pool = createPoolOutput(screen, {
    isJson: false,
    quiet: !showsProcesses,
    maxMemoryMb: config.maxMemoryPerChildMb,
  });
  const output = { finished, heldUp: () => {}, commandReceived: () => {} };
  const line = linesTo(screen, false);
  const supervisor = createPool(session, [group], { output, pool, line, onSelector });
  const killed = shutdown.onKill(() => {
    supervisor.killAll();
    screen.err(stoppedText(jobId, screen));
  });
  return { ...supervisor, removeListeners: killed.remove };
}

/** The message that is printed when the process ends without a report. */
function stoppedText(jobId: string, screen: Screen): string {
  return `stopped; progress is saved\n${steps([["resume", `crawl --resume ${jobId}`]], screen)}`;
}

/** Pauses an interrupted crawl, so that its rates no longer slow down other crawls of the same sites. */
async function pausedJob({ trawl }: CommandSession, jobId: string): Promise<JobView> {
  const getJob = () => getKnownJob(trawl.catalogue, jobId, "cli.crawl");
  const job = await getJob();
  if (hasEnded(job.state)) return job;
  return trawl.frontier.pause(jobId).catch((error: unknown) => {
    if (isTrawlError(error, "JOB_ENDED")) return getJob(); // its last task ended after the check above
    throw error;
  });
}
