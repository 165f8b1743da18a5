/**
 * Keeps worker processes running, and survives the death of any of them. Each process has a place. When a process dies,
 * the supervisor decides about its tasks at once (attribute-crash.ts) and starts a replacement, after a delay if the
 * process failed at start. When a process retires, its replacement starts before it has ended. While something that
 * processes need is unavailable, such as a browser, the delay doubles each time. If a process reports that no process
 * can work here, for example because the broker is lost, the supervisor stops all of them. The command line calls it
 * once. If the supervisor crashes, the IPC channel closes, and its processes stop by themselves.
 *
 * createSupervisor is long because starting, watching and stopping share the list of processes.
 */
import { TrawlError } from "../../errors.ts";
import type { Frontier } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import { mergeSnapshots, type Snapshot, withoutGauges } from "../../runtime/metrics.ts";
import type { Service } from "../../runtime/service.ts";
import type { AttemptWrite } from "../../store/store.ts";
import { CHILD_METRICS } from "../observe/worker-metrics.ts";
import type { WorkerTally } from "../worker.ts";
import { attributeCrash } from "./attribute-crash.ts";
import type { ChildExit, PoolChild } from "./child-process.ts";
import { crashAttempts } from "./crash-attempts.ts";
import { type ChildLimits, findKillReason, isSilent, type KillReason } from "./kill-reason.ts";
import type { ChildFailure } from "./messages.ts";
import { restartDelayMs, wasUseful } from "./restart-delay.ts";

export type Supervisor = Service & {
  /**
   * Resolves when all places are empty and no more processes will start: all processes were stopped, or nothing is left
   * to do. If a process could not work at all, rejects with its error once all places are empty.
   */
  ended: Promise<void>;
  /**
   * Lets all processes end their running tasks, however long that takes, and starts no more processes. Processes of the
   * groups in `stopLast` are stopped when the others have ended.
   */
  drain(): void;
  /** Kills all processes at once. For a supervisor that is about to exit. */
  killAll(): void;
  tally(): WorkerTally;
  /** The number of running tasks, as last reported. */
  busy(): number;
  /** Counters of all processes, including ended ones, and gauges of the current ones. */
  metrics(): Snapshot;
  /** The state of each process, as last reported. */
  processes(): readonly ProcessStatus[];
};

export type ProcessStatus = Place & { busy: number; rssMb: number };

/** The position of a process. Its replacement gets the same position. */
export type Place = {
  /** Counts from 1 within its group. */
  nth: number;
  /** Undefined if there is only one group. */
  group: string | undefined;
};

export type ChildDeath = Place & {
  pid: number;
  exit: ChildExit;
  /** Undefined if the supervisor did not kill it. */
  killed: KillReason | undefined;
  /** Its tasks, as last reported. */
  underWay: readonly { taskId: string; url: string; isReading: boolean; forMs: number }[];
  /** How many tasks were returned; undefined if the broker could not be reached. */
  returned: number | undefined;
};

export type SupervisorEvents = {
  started(child: Place & { pid: number }): void;
  ended(death: ChildDeath): void;
  /** The next process of this place will start after a delay. */
  waiting(place: Place & { delayMs: number }): void;
  /** A dead letter that the supervisor wrote was the last task of this job. */
  finished(jobId: string): void;
};

type Deps = {
  frontier: Pick<Frontier, "settle" | "release" | "abandon" | "withdraw">;
  startChild(place: Place, now: () => number): PoolChild;
  /** The memory of a process according to the operating system. A stuck process does not report it. */
  findRssMb(pid: number): number | undefined;
  /** Stores the attempts of a process that died. */
  storeAttempts(attempts: readonly AttemptWrite[]): Promise<void>;
  events: SupervisorEvents;
  clock: Clock;
  log: Log;
};

type SupervisorOptions = ChildLimits & {
  places: readonly Place[];
  graceMs: number;
  /**
   * Groups that run no tasks, such as the server. A drain stops them last, and the limits of workers do not apply to
   * them.
   */
  stopLast: ReadonlySet<Place["group"]>;
  /** Until it resolves, only the groups in `stopLast` start. If those cannot run, workers must not start either. */
  startAfter?: Promise<void>;
};

/** Whether a process was useful, and its exit. The exit is still pending if the process retires. */
type ChildRun = { result: "drained" | "useful" | "useless"; exit: Promise<ChildExit> | undefined };

const CHECK_MS = 500;
/** Time after the grace period in which a worker aborts its tasks, returns them and closes. */
export const STOP_SLACK_MS = 8_000;

export function createSupervisor(deps: Deps, options: SupervisorOptions): Supervisor {
  const { frontier, events, clock, log } = deps;
  const stopping = new AbortController();
  /** Aborts when the supervisor starts no more processes: when it drains or stops. */
  const emptying = new AbortController();
  const emptied = new Promise<void>((resolve) => {
    emptying.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const over = new AbortController();
  const children = new Map<PoolChild, { place: Place; exit: Promise<ChildExit> }>();
  const killed = new Map<PoolChild, KillReason>();
  const endedTally: WorkerTally = { tasks: 0, pages: 0, records: 0 };
  let endedMetrics: Snapshot = {};
  const watching = createWatch(clock);
  let running: Promise<void> | undefined;
  let stoppingSince = Number.POSITIVE_INFINITY;
  let failure: ChildFailure | undefined;
  const outcome = { resolve: () => {}, reject: (_cause: unknown) => {} };
  const ended = new Promise<void>((resolve, reject) => {
    Object.assign(outcome, { resolve, reject });
  });
  ended.catch(() => {}); // the caller handles it

  async function run(): Promise<void> {
    const checking = checkUntilOver();
    await Promise.all(options.places.map(keepPlace));
    // Retired processes may still run their last tasks.
    await Promise.all([...children.values()].map(({ exit }) => exit));
    over.abort();
    await checking;
    if (failure === undefined) return;
    throw new TrawlError(failure.code, { op: "pool", message: failure.message });
  }

  async function keepPlace(place: Place): Promise<void> {
    let failedStarts = 0;
    let leaving: Promise<unknown> | undefined;
    const { startAfter, stopLast } = options;
    if (startAfter !== undefined && !stopLast.has(place.group)) await Promise.race([startAfter, emptied]);
    while (!emptying.signal.aborted) {
      const { result, exit } = await runChild(place);
      if (result === "drained") return;
      // At most one retired process per place. With slow pages, retired processes would otherwise accumulate.
      await leaving;
      leaving = exit;
      failedStarts = result === "useful" ? 0 : failedStarts + 1;
      const delayMs = restartDelayMs(failedStarts);
      if (delayMs > 0 && !emptying.signal.aborted) events.waiting({ ...place, delayMs });
      await clock.sleep(delayMs, emptying.signal);
    }
  }

  /** Starts a process. Resolves when its replacement may start. */
  async function runChild(place: Place): Promise<ChildRun> {
    const child = tryStart(place);
    if (child === undefined) return { result: "useless", exit: undefined };
    const exit = handleExit(child, place);
    children.set(child, { place, exit });
    events.started({ ...place, pid: child.pid });
    const gone = await Promise.race([exit, child.retiring]);
    if (child.isDrained) {
      await exit;
      return { result: "drained", exit };
    }
    // A retiring process will end its running tasks, so they count. A dead process did not end them.
    const tasksEnded = child.tasksEnded + (gone === undefined ? child.underWay().length : 0);
    // The same thing is probably unavailable to the next process, even if this process did useful work.
    const isUseful = gone?.problem === undefined && wasUseful({ ranMs: watching.now() - child.startedAt, tasksEnded });
    return { result: isUseful ? "useful" : "useless", exit };
  }

  function tryStart(place: Place): PoolChild | undefined {
    try {
      return deps.startChild(place, watching.now);
    } catch (cause) {
      log.error("pool.start_failed", { ...place, cause }); // for example, not enough memory; a later start may succeed
      return undefined;
    }
  }

  /** Waits for the end of a process, and decides about the tasks that it leaves behind. */
  async function handleExit(child: PoolChild, place: Place): Promise<ChildExit> {
    const exit = await child.ended;
    if (exit.failure !== undefined) fail(exit.failure);
    const underWay = child.underWay().map(({ taskId, url, isReading, beganAt }) => {
      return { taskId, url, isReading, forMs: watching.now() - beganAt };
    });
    const returned = exit.isClean ? 0 : await returnTasks(child, exit);
    children.delete(child);
    addTo(endedTally, child.tally);
    if (child.metrics !== undefined)
      endedMetrics = mergeSnapshots(CHILD_METRICS, [endedMetrics, countersOf(child.metrics)]);
    events.ended({ ...place, pid: child.pid, exit, killed: killed.get(child), underWay, returned });
    killed.delete(child);
    stopLastGroups();
    return exit;
  }

  /** No process can work here: stop the others, and start no more. */
  function fail(cause: ChildFailure): void {
    failure ??= cause;
    void stopAll();
  }

  async function returnTasks(child: PoolChild, exit: ChildExit): Promise<number | undefined> {
    const { worker } = child;
    if (worker === undefined) return 0;
    // The broker may be lost, and calls to it would only delay the shutdown. The leases expire by themselves.
    if (failure !== undefined) return undefined;
    const death = { exit, killed: killed.get(child), underWay: child.underWay() };
    const attribution = attributeCrash(death, options);
    const { failed, returned, crashed } = attribution;
    const times = { watchedAt: watching.now(), endedAt: clock.now() };
    try {
      // Failed tasks first: `abandon` would return them.
      const { finished, states } = failed.length > 0 ? await frontier.settle(failed) : { finished: [], states: [] };
      // The leases of these tasks had expired, so another process may run them now.
      if (states.includes("stale"))
        log.warn("pool.crash_attributed_late", { worker, tasks: failed.map((one) => one.taskId) });
      if (returned.length > 0) await frontier.release(returned);
      const count = await frontier.abandon(worker, crashed);
      await frontier.withdraw(worker);
      for (const jobId of finished) events.finished(jobId);
      return returned.length + count;
    } catch (cause) {
      // This is only a delay: the leases expire.
      log.warn("pool.hand_back_failed", { worker, cause });
      return undefined;
    } finally {
      // This runs last: the tasks must be returned before a reaper finds them. A reaper knows less about how they
      // ended.
      await storeAttempts(worker, crashAttempts(death, attribution, { worker, limits: options, ...times }));
    }
  }

  async function storeAttempts(worker: string, attempts: readonly AttemptWrite[]): Promise<void> {
    // A failed write is only a gap in `trawl trace`.
    await deps
      .storeAttempts(attempts)
      .catch((cause: unknown) => log.warn("pool.attempts_not_stored", { worker, cause }));
  }

  async function checkUntilOver(): Promise<void> {
    while (!over.signal.aborted) {
      await clock.sleep(CHECK_MS, over.signal);
      watching.update();
      for (const [child, { place }] of children) {
        const reason = killReasonOf(child, place);
        if (reason !== undefined) kill(child, reason);
      }
    }
  }

  function killReasonOf(child: PoolChild, { group }: Place): KillReason | undefined {
    const now = watching.now();
    // A stuck process does not process the stop message, so it is killed right after the grace period.
    if (now - stoppingSince > options.graceMs && isSilent(child, now)) return "stop_timeout";
    if (options.stopLast.has(group)) return undefined;
    const state = { rssMb: rssMbOf(child), lastMessageAt: child.lastMessageAt, underWay: child.underWay() };
    return findKillReason(state, options, now);
  }

  function rssMbOf({ pid, rssMb }: PoolChild): number {
    return Number.isFinite(options.maxMemoryMb) ? (deps.findRssMb(pid) ?? rssMb) : rssMb;
  }

  function kill(child: PoolChild, reason: KillReason): void {
    if (killed.has(child)) return;
    killed.set(child, reason);
    child.kill();
  }

  async function stopAll(): Promise<void> {
    if (stopping.signal.aborted) return;
    stopping.abort();
    emptying.abort();
    stoppingSince = watching.now();
    for (const child of children.keys()) child.stop();
    await clock.sleep(options.graceMs + STOP_SLACK_MS, over.signal);
    for (const child of children.keys()) kill(child, "stop_timeout");
  }

  function drain(): void {
    emptying.abort();
    for (const child of drainingNow()) child.retire();
    stopLastGroups();
  }

  function drainingNow(): PoolChild[] {
    return [...children].filter(([, { place }]) => !options.stopLast.has(place.group)).map(([child]) => child);
  }

  function stopLastGroups(): void {
    if (emptying.signal.aborted && drainingNow().length === 0) void stopAll();
  }

  return {
    drain,
    start() {
      running ??= run().then(outcome.resolve, outcome.reject);
    },
    async stop() {
      if (running === undefined) return;
      await Promise.all([stopAll(), running]); // `running` never rejects: `ended` does
    },
    ended,
    killAll: () => {
      for (const child of children.keys()) child.kill();
    },
    tally: () => {
      const sum = { ...endedTally };
      for (const child of children.keys()) addTo(sum, child.tally);
      return sum;
    },
    metrics: () => {
      const current = [...children.keys()].map(({ metrics }) => metrics ?? {});
      return mergeSnapshots(CHILD_METRICS, [endedMetrics, ...current]);
    },
    processes: () =>
      [...children].map(([child, { place }]) => ({ ...place, busy: child.underWay().length, rssMb: child.rssMb })),
    busy: () => [...children.keys()].reduce((sum, child) => sum + child.underWay().length, 0),
  };
}

/**
 * A clock that counts only the time in which the supervisor can receive messages. While the machine sleeps or the
 * supervisor is suspended, it receives none, so a gap between two checks counts as at most two check intervals.
 */
function createWatch(clock: Clock): { now(): number; update(): void } {
  let updatedAt = clock.now();
  let watchedMs = 0;
  const sinceUpdate = () => Math.min(Math.max(0, clock.now() - updatedAt), 2 * CHECK_MS);
  return {
    now: () => watchedMs + sinceUpdate(),
    update() {
      watchedMs += sinceUpdate();
      updatedAt = clock.now();
    },
  };
}

/** Keeps the counters of an ended process and drops its gauges. */
function countersOf(metrics: Snapshot): Snapshot {
  return withoutGauges(CHILD_METRICS, metrics);
}

function addTo(sum: WorkerTally, { tasks, pages, records }: WorkerTally): void {
  sum.tasks += tasks;
  sum.pages += pages;
  sum.records += records;
}
