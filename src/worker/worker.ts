/** A worker: the lease loop and the services that run together with it. */
import { isTrawlError } from "../errors.ts";
import type {
  Claim,
  Frontier,
  Grant,
  Presence,
  SettleAnswer,
  Settlement,
  Vitals,
  WorkerCommand,
} from "../frontier/frontier.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import type { Clock } from "../runtime/clock.ts";
import { deferred } from "../runtime/deferred.ts";
import type { Log } from "../runtime/log.ts";
import type { Snapshot } from "../runtime/metrics.ts";
import type { ProcessMetrics } from "../runtime/process-metrics.ts";
import type { Service } from "../runtime/service.ts";
import type { Tracing } from "../runtime/tracing.ts";
import type { Bodies, PageSpool } from "../store/bodies/bodies.ts";
import type { AttemptWrite, ControlStores, Store } from "../store/store.ts";
import { createLeaseKeeper } from "./loop/lease-keeper.ts";
import { createLeaseLoop, type LeaseLoopOptions } from "./loop/lease-loop.ts";
import { createPresence } from "./loop/presence.ts";
import { createReaper } from "./loop/reaper.ts";
import { createSettler } from "./loop/settler.ts";
import { type AttemptResult, createAttemptRecorder } from "./observe/attempt-recorder.ts";
import { createHistoryWriter } from "./observe/history-writer.ts";
import { createTaskLog } from "./observe/task-log.ts";
import { type Attempt, combineObservers, type SettledAttempt, type TaskObserver } from "./observe/task-observer.ts";
import { createTaskTracer } from "./observe/task-tracer.ts";
import type { WorkerMeter } from "./observe/worker-meter.ts";
import type { Pacer } from "./pace/pacer-interface.ts";
import { createHandlerErrors, type HandlerPage } from "./task/handler-errors.ts";
import type { JobCache } from "./task/job-cache.ts";
import { createReadBatcher } from "./task/read-batcher.ts";
import { type RunTaskDeps, type RunTaskOptions, runTask } from "./task/run-task.ts";
import { overdue, type TaskResult, unreadable } from "./task/task-result.ts";
import { isOverTime, withinTimeLimit } from "./task/time-limit.ts";

export type Worker = {
  start(): void;
  /** Stops leasing, lets running tasks finish within the grace period, and returns the others to the frontier. */
  stop(): Promise<void>;
  /** Leases no more tasks, and ends when its running tasks have ended, however long that takes. */
  retire(): void;
  /** Aborts when the worker retires, on request or after `maxTasks`. Does not abort when it stops. */
  retiring: AbortSignal;
  /** Resolves when the worker has ended. Rejects with the error that ended it. */
  ended: Promise<void>;
  /** The number of running tasks. */
  busy(): number;
  /**
   * Identifies the current wait for work: the number changes with every lease call. Undefined while the worker is busy.
   */
  idleRound(): number | undefined;
  /** Counts of the results that it has settled so far. */
  tally(): WorkerTally;
  /** Counters since the start, and current gauges. */
  metrics(): Snapshot;
  /** The page whose handler started the code that is running. Undefined if no handler started it. */
  currentHandlerPage(): HandlerPage | undefined;
};

export type WorkerTally = { tasks: number; pages: number; records: number };

type WorkerDeps = Omit<RunTaskDeps, "handlerErrors" | "readBatcher"> & {
  frontier: Frontier & FrontierAdmin;
  pacer: Pacer;
  store: Store & Pick<ControlStores, "history">;
  bodies: Bodies;
  spool: PageSpool;
  jobs: JobCache;
  /** False only if the worker is certainly dead: it was a process of this machine, and that process no longer runs. */
  mayBeAlive(worker: string): boolean;
  onFinished(jobId: string): void;
  /** Queues the deliveries of webhooks. */
  notifier: Service & { wake(jobId: string): void; isBusy(): boolean };
  /** One more observer of all tasks, such as the reporter of a pool process. */
  observer: TaskObserver | undefined;
  meter: WorkerMeter;
  processMetrics: ProcessMetrics;
  /** The resident memory of this process. */
  rssBytes(): number;
  tracing: Tracing;
  /** The share of time, 0 to 1, that the event loop was busy since the last call. */
  eventLoopUse(): number;
  /** Called for each operator command that is in `commands`. */
  onCommand(command: WorkerCommand): void;
  clock: Clock;
  log: Log;
};

export type WorkerOptions = RunTaskOptions &
  LeaseLoopOptions & {
    flushMs: number;
    /** A task that takes longer is aborted. Infinity means no limit. */
    timeLimitMs: number;
    version: string;
    /** The process that supervises this one. */
    supervisor: string | undefined;
    /** The commands that this worker follows. */
    commands: readonly WorkerCommand[];
    /** The memory limit of the process, for display only. Infinity means no limit. */
    maxMemoryBytes: number;
    /** Whether a job whose spider or rules cannot be loaded ends the worker, or only fails its tasks. */
    unreadableJob: "ends-worker" | "ends-task";
  };

/** The maximum number of results that are written in one batch. */
const MAX_BATCH = 32;
const REAP_EVERY_MS = 5_000;
const ANNOUNCE_EVERY_MS = 5_000;
const HISTORY_EVERY_MS = 5_000;

export function createWorker(workerDeps: WorkerDeps, options: WorkerOptions): Worker {
  const deps = {
    ...workerDeps,
    handlerErrors: createHandlerErrors(workerDeps),
    readBatcher: createReadBatcher(workerDeps),
  };
  const { frontier, pacer, store, bodies, spool, jobs, mayBeAlive, notifier, meter, processMetrics, clock, log } = deps;
  const { worker, queues, version } = options;
  const counts: WorkerTally = { tasks: 0, pages: 0, records: 0 };
  const ends = { done: 0, failed: 0 };
  const startedAt = clock.now();
  const attempts = createAttemptRecorder({ clock }, { worker });
  const history = createHistoryWriter({ history: store.history, clock, log }, { everyMs: HISTORY_EVERY_MS });
  const observe = combineObservers([
    createTaskLog(log, { worker }),
    history.observer,
    meter.observer,
    createTaskTracer(deps.tracing),
    { settled: count, fetched: pacer.responded },
    ...(deps.observer === undefined ? [] : [deps.observer]),
  ]);
  const broker = meter.broker(frontier);
  const settler = createSettler(
    {
      store: meter.store(store),
      bodies,
      spool,
      frontier: { settle },
      onFinished,
      observe,
      clock,
      log,
      isBusy: (): boolean => loop.busy() > MAX_BATCH,
    },
    { flushMs: options.flushMs, maxBatch: MAX_BATCH },
  );
  const loop = createLeaseLoop(
    {
      frontier: {
        lease: broker.lease,
        release,
        returnTerms: (returned) => frontier.returnTerms(returned),
        waitForWork: (until, signal) => frontier.waitForWork(until, signal),
      },
      ...{ pacer, settler, clock, run },
    },
    options,
  );
  const keeper = createLeaseKeeper({ frontier: broker, held: loop.held, clock, log }, { leaseMs: options.leaseMs });
  const lost = deferred();
  lost.promise.catch(() => {}); // the caller handles it through `ended`
  // If the disk is full, every write fails. An idle worker writes nothing outside the reaper, so only the reaper
  // notices.
  const onLost = (cause: unknown): void => (loop.busy() === 0 ? lost.reject(cause) : undefined);
  const reaper = createReaper({ frontier, mayBeAlive, onLost, clock, log }, { everyMs: REAP_EVERY_MS, batch: 500 });
  const presence = createPresence(
    {
      ...{ frontier, clock, log, describe: () => ({ worker, queues, version, ...condition() }) },
      onCommand: (command) => (options.commands.includes(command) ? deps.onCommand(command) : undefined),
    },
    { everyMs: ANNOUNCE_EVERY_MS },
  );
  let isStopping = false;

  function onFinished(jobId: string): void {
    notifier.wake(jobId);
    deps.onFinished(jobId);
  }

  function condition(): Pick<Presence, "unknownSpiders" | "vitals"> {
    const { concurrency, supervisor, commands, maxMemoryBytes, maxTasks } = options;
    const vitals: Vitals = {
      ...{ concurrency, busy: loop.busy(), ...ends, rssBytes: deps.rssBytes(), recent: history.recent(), commands },
      upMs: Math.round(clock.now() - startedAt),
      state: isStopping || loop.retiring.aborted ? "draining" : "working",
      eventLoopUse: Math.round(deps.eventLoopUse() * 1000) / 1000,
      ...(supervisor === undefined ? {} : { supervisor }),
      ...(Number.isFinite(maxMemoryBytes) ? { maxMemoryBytes } : {}),
      ...(Number.isFinite(maxTasks) ? { maxTasks } : {}),
    };
    return { unknownSpiders: jobs.unknownSpiders(), vitals };
  }

  async function run(grant: Grant, abort: AbortController, isAlone: boolean): Promise<AttemptResult> {
    const attempt = attempts.begin(grant, isAlone);
    observe.leased?.(attempt);
    try {
      const work = (signal: AbortSignal) => runOne(attempt, signal);
      return attempts.finish(attempt, await withinTimeLimit(options.timeLimitMs, abort, work));
    } finally {
      observe.ended?.(attempt);
    }
  }

  async function runOne(attempt: Attempt, signal: AbortSignal): Promise<TaskResult> {
    const { grant } = attempt;
    try {
      const plan = await jobs.planOf(grant.jobId);
      attempt.plan = plan;
      observe.planned?.(attempt);
      return await runTask({ deps, observe, attempt, options, grant, plan, signal });
    } catch (error) {
      // Only the error of the time limit itself counts as a timeout. A later error, such as a lost broker, was not
      // caused by the task.
      if (isOverTime(signal) && error === signal.reason) return overdue(grant, signal.reason);
      const isUnreadable = isTrawlError(error, "BAD_JOB", "BAD_SPIDER", "BAD_SELECTOR", "BAD_SECRET");
      if (!isUnreadable || options.unreadableJob === "ends-worker") throw error;
      log.warn("worker.job_unreadable", { jobId: grant.jobId, taskId: grant.taskId, cause: error });
      return unreadable(grant, error);
    }
  }

  function settle(settlements: readonly Settlement[]): Promise<SettleAnswer> {
    for (const settlement of settlements) pacer.settling(settlement);
    return broker.settle(settlements);
  }

  /** Returns tasks to the frontier, and records the attempts that had begun. */
  async function release(claims: readonly Claim[]): Promise<void> {
    await Promise.all([broker.release(claims), writeAttempts(attempts.returned(claims))]);
  }

  async function writeAttempts(entries: readonly AttemptWrite[]): Promise<void> {
    if (entries.length === 0) return;
    // A missing entry is only a gap in `trawl trace`. It must not delay the shutdown.
    await store.write([], entries).catch((cause: unknown) => log.warn("worker.attempts_not_stored", { cause }));
  }

  function count(_: Attempt, { settlement: { tally }, state }: SettledAttempt): void {
    ends[state === "done" || state === "refused" ? "done" : "failed"] += 1;
    counts.tasks += 1;
    counts.pages += tally.pages;
    counts.records += tally.records;
  }

  return {
    start() {
      processMetrics.start();
      presence.start();
      history.start();
      notifier.start();
      reaper.start();
      keeper.start();
      loop.start();
    },
    async stop() {
      isStopping = true;
      // The keeper stops after the loop: running tasks need their leases until they are settled.
      await reaper.stop();
      await loop.stop();
      await keeper.stop();
      await notifier.stop();
      await history.stop();
      await presence.stop();
      await processMetrics.stop();
    },
    retire: loop.retire,
    retiring: loop.retiring,
    ended: Promise.race([loop.ended, lost.promise]),
    busy: loop.busy,
    // While the notifier still has events to queue, more tasks will follow, so the worker is not idle.
    idleRound: () => (notifier.isBusy() ? undefined : loop.idleRound()),
    tally: () => ({ ...counts }),
    metrics: () => ({
      ...meter.snapshot({ inFlight: loop.busy(), concurrency: options.concurrency }),
      ...processMetrics.snapshot(),
    }),
    currentHandlerPage: deps.handlerErrors.currentHandlerPage,
  };
}
