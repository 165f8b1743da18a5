/** Runs one job to its end, in this process or in processes of its own: worker, progress, records out. */
import { hasEnded } from "../../domain/job.ts";
import { isTrawlError } from "../../errors.ts";
import type { JobView } from "../../frontier/frontier-admin.ts";
import { getKnownJob } from "../../retain/catalogue.ts";
import type { Service } from "../../runtime/service.ts";
import { UNWATCHED } from "../../worker/task-watch.ts";
import { linesTo } from "../log-lines.ts";
import type { Session } from "../session.ts";
import type { Stops } from "../stops.ts";
import { type Screen, steps } from "../terminal.ts";
import { aborted, watchJob } from "../watch-job.ts";
import { createPoolVoice } from "../worker/pool-voice.ts";
import { createPool, type PoolGroup } from "../worker/run-pool.ts";
import { untilTold } from "./deliveries.ts";
import { createRecordStream } from "./record-stream.ts";

export type CrawlRun = {
  jobId: string;
  queue: string;
  allowHosts: readonly string[];
  quiet: boolean;
  /** Records go to stdout as they come. */
  stream: boolean;
  /** The processes that do the work; undefined: this one does. */
  group: PoolGroup | undefined;
  /** Whether their comings and goings are told, and not only their deaths. */
  tellsProcesses: boolean;
};

/** How often the job is looked at for the display. */
const SAMPLE_MS = 200;

export type CrawlEnd = { job: JobView; interrupted: boolean; seconds: number };

export async function runCrawl(session: Session, stops: Stops, run: CrawlRun): Promise<CrawlEnd> {
  const { trawl } = session;
  const startedAt = trawl.clock.now();
  const over = new AbortController();
  const ended = new AbortController();
  const onFinished = (jobId: string) => jobId === run.jobId && ended.abort();
  // Those who work on it deliver what there is to tell of it as well: they go on until that is done.
  ended.signal.addEventListener("abort", () => {
    void untilTold(session, run, over.signal)
      .catch(() => {}) // what is undelivered is told in the end
      .finally(() => over.abort());
  });
  const crew =
    run.group === undefined
      ? await workHere(session, stops, run, onFinished)
      : workInPool(session, stops, run.group, run, onFinished);
  const stopped = stops.once(() => {
    session.screen.err("\nstopping: letting running requests finish (again to stop at once)\n");
    over.abort();
    ended.abort(); // whatever it would tell: nothing is shown any more
  });
  const place = { findJob: (id: string) => trawl.frontier.findJob(id), now: trawl.clock.now, screen: session.screen };
  const display = watchJob(place, { ...run, isOnlyLook: false, everyMs: SAMPLE_MS }, ended);
  const stream = run.stream ? createRecordStream(trawl, run.jobId, session.screen.out) : undefined;
  crew.start();
  stream?.start();
  try {
    await Promise.race([aborted(over.signal), crew.ended]);
  } finally {
    await crew.stop();
    stopped.forget();
    crew.forget();
    await display.stop();
    await stream?.stop();
  }
  await crew.ended; // throws what broke it
  const job = await restingJob(session, run.jobId);
  return { job, interrupted: !hasEnded(job.state), seconds: (trawl.clock.now() - startedAt) / 1000 };
}

/** Whoever does the work. */
type Crew = Service & { ended: Promise<void>; forget(): void };

async function workHere(
  { trawl, screen }: Session,
  stops: Stops,
  { jobId, queue, allowHosts }: CrawlRun,
  onFinished: (jobId: string) => void,
): Promise<Crew> {
  const worker = await trawl.createWorker({
    queues: [queue],
    allowHosts,
    unreadableJob: "ends-worker",
    onFinished,
    watch: UNWATCHED,
    maxTasks: Number.POSITIVE_INFINITY,
  });
  const heard = [
    stops.onStray(worker.findCulprit, () => screen.err(goOn(jobId, screen))),
    stops.atOnce(() => screen.err(goOn(jobId, screen))),
  ];
  return {
    ...worker,
    forget() {
      for (const { forget } of heard) forget();
    },
  };
}

function workInPool(
  session: Session,
  stops: Stops,
  group: PoolGroup,
  { jobId, tellsProcesses }: CrawlRun,
  finished: (jobId: string) => void,
): Crew {
  const { screen, config } = session;
  const pool = createPoolVoice(screen, {
    isJson: false,
    quiet: !tellsProcesses,
    maxMemoryMb: config.maxMemoryPerChildMb,
  });
  const voice = { finished, heldUp: () => {}, ordered: () => {} };
  const line = linesTo(screen, false);
  const supervisor = createPool(session, [group], { voice, pool, line });
  const killed = stops.atOnce(() => {
    supervisor.killAll();
    screen.err(goOn(jobId, screen));
  });
  return { ...supervisor, forget: killed.forget };
}

/** What to type after an end that nobody could prepare for. */
function goOn(jobId: string, screen: Screen): string {
  return `stopped at once: nothing is lost\n${steps([["go on", `crawl --resume ${jobId}`]], screen)}`;
}

/** A crawl nobody is running is paused: its limits no longer hold for other crawls of the same sites. */
async function restingJob({ trawl }: Session, jobId: string): Promise<JobView> {
  const look = () => getKnownJob(trawl.catalogue, jobId, "cli.crawl");
  const job = await look();
  if (hasEnded(job.state)) return job;
  return trawl.frontier.pause(jobId).catch((error: unknown) => {
    if (isTrawlError(error, "JOB_ENDED")) return look(); // the last of it ended just now
    throw error;
  });
}
