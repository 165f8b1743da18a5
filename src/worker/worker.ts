/** One worker of a process: the lease loop with the small services that keep it honest. */
import { isTrawlError } from "../errors.ts";
import type { Claim, Frontier, Grant, Presence, Tally, Vitals, WorkerOrder } from "../frontier/frontier.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import type { Clock } from "../runtime/clock.ts";
import { deferred } from "../runtime/deferred.ts";
import type { Log } from "../runtime/log.ts";
import type { Snapshot } from "../runtime/metrics.ts";
import type { ProcessMetrics } from "../runtime/process-metrics.ts";
import type { Service } from "../runtime/service.ts";
import type { Tracing } from "../runtime/tracing.ts";
import type { Bodies, Parcels } from "../store/bodies/bodies.ts";
import type { Store, StoreBooks, TryWrite } from "../store/store.ts";
import { createHistoryWriter } from "./history-writer.ts";
import type { JobBook } from "./job-book.ts";
import { createLeaseKeeper } from "./lease-keeper.ts";
import { createLeaseLoop, type LeaseLoopOptions } from "./lease-loop.ts";
import type { JobPlan } from "./plan.ts";
import { createPresence } from "./presence.ts";
import { createReaper } from "./reaper.ts";
import { overdue, type RunTaskDeps, type RunTaskOptions, runTask, type TaskResult, unreadable } from "./run-task.ts";
import { createSettler, type SettleTimes } from "./settler.ts";
import { type Culprit, createStrays } from "./strays.ts";
import { createTaskTracer, type Traced } from "./task-tracer.ts";
import type { TaskWatch } from "./task-watch.ts";
import { createTeller, type Telling, type ToldResult } from "./teller.ts";
import { isOverTime, withinTimeLimit } from "./time-limit.ts";
import type { WorkerMeter } from "./worker-meter.ts";

export type Worker = {
  start(): void;
  /** Stops leasing, lets running tasks finish within the grace period, hands the rest back. */
  stop(): Promise<void>;
  /** Takes no more tasks, and ends when those it has are over, however long that takes. */
  retire(): void;
  /** Aborts when it retires, asked to or after its last task; not when it stops. */
  retiring: AbortSignal;
  /** Settles when the worker has ended: rejects with what broke it. */
  ended: Promise<void>;
  /** Tasks under way right now. */
  busy(): number;
  /** Which wait for work it is in, while it has nothing to do. */
  idleRound(): number | undefined;
  /** What it has brought to an end so far. */
  tally(): WorkerTally;
  /** What it has counted since it began, and how it stands. */
  metrics(): Snapshot;
  /** The page whose handler runs now, or has started what does; undefined if none has. */
  findCulprit(): Culprit | undefined;
};

export type WorkerTally = { tasks: number; pages: number; records: number };

export type WorkerDeps = RunTaskDeps & {
  frontier: Frontier & FrontierAdmin;
  store: Store & Pick<StoreBooks, "history">;
  bodies: Bodies;
  parcels: Parcels;
  book: JobBook;
  mayBeAlive(worker: string): boolean;
  onFinished(jobId: string): void;
  /** Sees to it that those are told who want to know how jobs go. */
  notifier: Service & { wake(jobId: string): void; isBusy(): boolean };
  watch: TaskWatch;
  meter: WorkerMeter;
  processMetrics: ProcessMetrics;
  /** Memory of this process. */
  rssBytes(): number;
  /** Where the way of each task is told to whoever records it. */
  tracing: Tracing;
  /** How much of the time since it was last asked the thread was at work, 0 to 1. */
  loopUse(): number;
  /** What an operator asks of it, one of `obeys`. */
  onOrder(order: WorkerOrder): void;
  clock: Clock;
  log: Log;
};

export type WorkerOptions = RunTaskOptions &
  LeaseLoopOptions & {
    flushMs: number;
    /** A task that takes longer is ended; Infinity: it may take what it takes. */
    timeLimitMs: number;
    version: string;
    /** The process that looks after this one, if one does. */
    supervisor: string | undefined;
    /** Orders that are followed. */
    obeys: readonly WorkerOrder[];
    /** How large the process may grow; Infinity: as it likes. For others to know. */
    memoryMostBytes: number;
    /** A job whose spider or rules cannot be read ends the worker, or only its tasks: those of other jobs go on. */
    unreadableJob: "ends-worker" | "ends-task";
  };

/** Results written together at most. */
const BATCH_MOST = 32;
const REAP_EVERY_MS = 5_000;
const ANNOUNCE_EVERY_MS = 5_000;
const HISTORY_EVERY_MS = 5_000;

export function createWorker(deps: WorkerDeps, options: WorkerOptions): Worker {
  const { frontier, store, bodies, parcels, book, mayBeAlive, notifier, watch, meter, processMetrics, clock, log } =
    deps;
  const { worker, queues, version } = options;
  const counts: WorkerTally = { tasks: 0, pages: 0, records: 0 };
  const ends = { done: 0, failed: 0 };
  const startedAt = clock.now();
  const strays = createStrays({ log });
  const teller = createTeller({ clock, log }, { worker });
  const history = createHistoryWriter({ history: store.history, clock, log }, { everyMs: HISTORY_EVERY_MS });
  const tracer = createTaskTracer(deps);
  const broker = meter.broker(frontier);
  const settler = createSettler(
    {
      store: meter.store(store),
      bodies,
      parcels,
      frontier: broker,
      onFinished,
      onSettled,
      clock,
      log,
      busy: (): number => loop.busy(),
    },
    { flushMs: options.flushMs, batchMost: BATCH_MOST },
  );
  const loop = createLeaseLoop(
    { frontier: leasing({ ...broker, waitForWork: frontier.waitForWork }, release), settler, clock, run },
    options,
  );
  const keeper = createLeaseKeeper({ frontier: broker, held: loop.held, clock, log }, { leaseMs: options.leaseMs });
  const lost = deferred();
  lost.promise.catch(() => {}); // whoever awaits `ended` hears of it
  // A full disk fails every write, and with nothing to do here nobody else would write.
  const onLost = (cause: unknown): void => (loop.busy() === 0 ? lost.reject(cause) : undefined);
  const reaper = createReaper({ frontier, mayBeAlive, onLost, clock, log }, { everyMs: REAP_EVERY_MS, batch: 500 });
  const presence = createPresence(
    {
      ...{ frontier, clock, log, describe: () => ({ worker, queues, version, ...condition() }) },
      onOrder: (order) => (options.obeys.includes(order) ? deps.onOrder(order) : undefined),
    },
    { everyMs: ANNOUNCE_EVERY_MS },
  );
  let isStopping = false;

  function onFinished(jobId: string): void {
    notifier.wake(jobId);
    deps.onFinished(jobId);
  }

  function condition(): Pick<Presence, "unknownSpiders" | "vitals"> {
    const { concurrency, supervisor, obeys, memoryMostBytes, maxTasks } = options;
    const vitals: Vitals = {
      ...{ concurrency, busy: loop.busy(), ...ends, rssBytes: deps.rssBytes(), recent: history.recent(), obeys },
      upMs: Math.round(clock.now() - startedAt),
      state: isStopping || loop.retiring.aborted ? "draining" : "working",
      loopUse: Math.round(deps.loopUse() * 1000) / 1000,
      ...(supervisor === undefined ? {} : { supervisor }),
      ...(Number.isFinite(memoryMostBytes) ? { memoryMostBytes } : {}),
      ...(Number.isFinite(maxTasks) ? { tasksMost: maxTasks } : {}),
    };
    return { unknownSpiders: book.unknownSpiders(), vitals };
  }

  async function run(grant: Grant, abort: AbortController, isAlone: boolean): Promise<ToldResult> {
    const [telling, traced] = [teller.began(grant), tracer.began(grant)];
    watch.began(grant, isAlone);
    try {
      const work = (signal: AbortSignal) => runOne(grant, signal, { telling, traced });
      const result = telling.ended(await withinTimeLimit(options.timeLimitMs, abort, work));
      return traced.ended(result);
    } finally {
      watch.ended(grant);
    }
  }

  async function runOne(
    grant: Grant,
    signal: AbortSignal,
    { telling, traced }: { telling: Telling; traced: Traced },
  ): Promise<TaskResult> {
    try {
      const plan = watched(await book.planOf(grant.jobId), grant);
      telling.planned(plan.spec);
      traced.planned(plan);
      const listened = traced.listenTo(telling.listenTo(deps));
      return await runTask({ deps: listened, options, grant, signal, plan: traced.reading(plan) });
    } catch (error) {
      // Not of what went wrong meanwhile: a broker that is lost is no fault of the task.
      if (isOverTime(signal) && error === signal.reason) return overdue(grant, signal.reason);
      const isUnreadable = isTrawlError(error, "BAD_JOB", "BAD_SPIDER", "BAD_SELECTOR");
      if (!isUnreadable || options.unreadableJob === "ends-worker") throw error;
      log.warn("worker.job_unreadable", { jobId: grant.jobId, taskId: grant.taskId, cause: error });
      return unreadable(grant, error);
    }
  }

  function watched(plan: JobPlan, grant: Grant): JobPlan {
    const read: JobPlan["read"] = (input) => {
      watch.reading(grant);
      if (plan.spec.spider === undefined) return meter.read(() => plan.read(input));
      return meter.read(() => strays.follow(grant, input.signal, (signal) => plan.read({ ...input, signal })));
    };
    return { ...plan, read };
  }

  /** What was not begun is as it was; of what was, the store knows who had it. */
  async function release(claims: readonly Claim[]): Promise<void> {
    await Promise.all([broker.release(claims), keepTries(teller.returned(claims))]);
  }

  async function keepTries(tries: readonly TryWrite[]): Promise<void> {
    if (tries.length === 0) return;
    // Only the story has a gap: it must not hold up the end.
    await store.write([], tries).catch((cause: unknown) => log.warn("worker.tries_not_kept", { cause }));
  }

  function onSettled(result: ToldResult, times: SettleTimes): void {
    const { settlement } = result;
    result.settled(times);
    history.count(result);
    meter.settled(result);
    const { kind } = settlement.outcome;
    ends[kind === "retry" || kind === "dead" ? "failed" : "done"] += 1;
    add(settlement.tally);
  }

  function add({ pages, records }: Tally): void {
    counts.tasks += 1;
    counts.pages += pages;
    counts.records += records;
    watch.settled();
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
      // The keeper goes after the loop: running tasks need their leases until they are settled.
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
    // What it is about to tell of is work to come.
    idleRound: () => (notifier.isBusy() ? undefined : loop.idleRound()),
    tally: () => ({ ...counts }),
    metrics: () => ({
      ...meter.snapshot({ inFlight: loop.busy(), concurrency: options.concurrency }),
      ...processMetrics.snapshot(),
    }),
    findCulprit: strays.findCulprit,
  };
}

function leasing(
  frontier: Pick<Frontier, "lease" | "waitForWork">,
  release: Frontier["release"],
): Pick<Frontier, "lease" | "release" | "waitForWork"> {
  return {
    lease: (request) => frontier.lease(request),
    waitForWork: (until, signal) => frontier.waitForWork(until, signal),
    release,
  };
}
