/**
 * Keeps worker processes running, and survives the death of any of them. Each process has a place. When a process dies, the
 * supervisor decides about its tasks at once (attribute-crash.ts) and starts the next one, after a delay if it failed at
 * start. When a process retires, the next one starts before it has ended. A process that lacks something, such as a browser,
 * is replaced less and less often. A process that reports that no process can work here (the broker is lost) ends all.
 * The command line calls it once. If the supervisor crashes, its processes see the channel close and stop by themselves.
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
import { hasLived, restartDelayMs } from "./restart-delay.ts";

export type Supervisor = Service & {
  /**
   * Resolves when every place is empty for good: all processes were stopped, or nothing is left to do. If a process could
   * not work at all, rejects with its error once all places are empty.
   */
  ended: Promise<void>;
  /**
   * Lets all processes end their running tasks, however long that takes, and starts no others. Processes of outlasting
   * groups are stopped when the others have ended.
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

/** The position of a process. Its successors have the same one. */
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
  handedBack: number | undefined;
};

export type SupervisorEvents = {
  started(child: Place & { pid: number }): void;
  ended(death: ChildDeath): void;
  /** The next process of this place starts after a delay. */
  waiting(place: Place & { delayMs: number }): void;
  /** A dead letter that the supervisor wrote was the last task of this job. */
  finished(jobId: string): void;
};

type Deps = {
  frontier: Pick<Frontier, "settle" | "release" | "abandon" | "withdraw">;
  startChild(place: Place, now: () => number): PoolChild;
  /** Asks the operating system, since the process may be stuck. */
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
  /** Groups that do not drain with the others and run no tasks. The limits of workers do not apply to them. */
  outlasting: ReadonlySet<Place["group"]>;
  /** Until it resolves, only outlasting groups start. If those cannot run, workers must not start either. */
  led?: Promise<void>;
};

/** How useful a process was, and its exit, which is still pending if it retires. */
type Life = { life: "drained" | "of-use" | "of-no-use"; exit: Promise<ChildExit> | undefined };

const CHECK_MS = 500;
/** Time after the grace period in which a worker aborts its tasks, returns them and closes. */
export const STOP_SLACK_MS = 8_000;

export function createSupervisor(deps: Deps, options: SupervisorOptions): Supervisor {
  const { frontier, events, clock, log } = deps;
  const stopping = new AbortController();
  /** Aborts when no more processes are started, also with `stopping`. */
  const emptying = new AbortController();
  const emptied = new Promise<void>((resolve) => {
    emptying.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const over = new AbortController();
  const children = new Map<PoolChild, { place: Place; exit: Promise<ChildExit> }>();
  const killed = new Map<PoolChild, KillReason>();
  const before: WorkerTally = { tasks: 0, pages: 0, records: 0 };
  let counted: Snapshot = {};
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
    let diedAtOnce = 0;
    let leaving: Promise<unknown> | undefined;
    if (options.led !== undefined && !options.outlasting.has(place.group)) await Promise.race([options.led, emptied]);
    while (!emptying.signal.aborted) {
      const { life, exit } = await liveOnce(place);
      if (life === "drained") return;
      // At most one retired process per place: with slow pages, retired processes would pile up.
      await leaving;
      leaving = exit;
      diedAtOnce = life === "of-use" ? 0 : diedAtOnce + 1;
      const delayMs = restartDelayMs(diedAtOnce);
      if (delayMs > 0 && !emptying.signal.aborted) events.waiting({ ...place, delayMs });
      await clock.sleep(delayMs, emptying.signal);
    }
  }

  /** Resolves when the next process may start. */
  async function liveOnce(place: Place): Promise<Life> {
    const child = tryStart(place);
    if (child === undefined) return { life: "of-no-use", exit: undefined };
    const exit = seeToEnd(child, place);
    children.set(child, { place, exit });
    events.started({ ...place, pid: child.pid });
    const gone = await Promise.race([exit, child.retiring]);
    if (child.isDrained) {
      await exit;
      return { life: "drained", exit };
    }
    // A retiring process will end its tasks; a dead one did not.
    const tasksEnded = child.tasksEnded + (gone === undefined ? child.underWay().length : 0);
    // The next process will lack the same, whatever this one did besides.
    const isOfUse = gone?.lack === undefined && hasLived({ livedMs: watching.now() - child.startedAt, tasksEnded });
    return { life: isOfUse ? "of-use" : "of-no-use", exit };
  }

  function tryStart(place: Place): PoolChild | undefined {
    try {
      return deps.startChild(place, watching.now);
    } catch (cause) {
      log.error("pool.start_failed", { ...place, cause }); // not enough memory, for example; later there may be
      return undefined;
    }
  }

  /** Waits for the end of a process, and decides about the tasks that it leaves behind. */
  async function seeToEnd(child: PoolChild, place: Place): Promise<ChildExit> {
    const exit = await child.ended;
    if (exit.failure !== undefined) fail(exit.failure);
    const underWay = child.underWay().map(({ taskId, url, isReading, beganAt }) => {
      return { taskId, url, isReading, forMs: watching.now() - beganAt };
    });
    const handedBack = exit.isClean ? 0 : await returnTasks(child, exit);
    children.delete(child);
    addTo(before, child.tally);
    if (child.metrics !== undefined) counted = mergeSnapshots(CHILD_METRICS, [counted, lasting(child.metrics)]);
    events.ended({ ...place, pid: child.pid, exit, killed: killed.get(child), underWay, handedBack });
    killed.delete(child);
    stopOutlasting();
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
    // A lost broker would only delay the end: leases expire by themselves.
    if (failure !== undefined) return undefined;
    const death = { exit, killed: killed.get(child), underWay: child.underWay() };
    const attribution = attributeCrash(death, options);
    const { failed, returned } = attribution;
    const times = { watchedAt: watching.now(), endedAt: clock.now() };
    try {
      // Failed tasks first: `abandon` counts a crash for all that is left.
      const { finished, states } = failed.length > 0 ? await frontier.settle(failed) : { finished: [], states: [] };
      // Their leases had expired: another process holds these tasks now.
      if (states.includes("stale"))
        log.warn("pool.crash_attributed_late", { worker, tasks: failed.map((one) => one.taskId) });
      if (returned.length > 0) await frontier.release(returned);
      const count = await frontier.abandon(worker);
      await frontier.withdraw(worker);
      for (const jobId of finished) events.finished(jobId);
      return returned.length + count;
    } catch (cause) {
      // Only a delay: the leases expire.
      log.warn("pool.hand_back_failed", { worker, cause });
      return undefined;
    } finally {
      // Last: the tasks must be returned before a reaper finds them, which knows less about how they ended.
      await storeAttempts(worker, crashAttempts(death, attribution, { worker, limits: options, ...times }));
    }
  }

  async function storeAttempts(worker: string, attempts: readonly AttemptWrite[]): Promise<void> {
    // Only a gap in `trawl trace`.
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
    // A stuck process does not receive the stop message. It gets the grace period, and no more.
    if (now - stoppingSince > options.graceMs && isSilent(child, now)) return "stop_timeout";
    if (options.outlasting.has(group)) return undefined;
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
    stopOutlasting();
  }

  function drainingNow(): PoolChild[] {
    return [...children].filter(([, { place }]) => !options.outlasting.has(place.group)).map(([child]) => child);
  }

  function stopOutlasting(): void {
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
      const sum = { ...before };
      for (const child of children.keys()) addTo(sum, child.tally);
      return sum;
    },
    metrics: () => {
      const current = [...children.keys()].map(({ metrics }) => metrics ?? {});
      return mergeSnapshots(CHILD_METRICS, [counted, ...current]);
    },
    processes: () =>
      [...children].map(([child, { place }]) => ({ ...place, busy: child.underWay().length, rssMb: child.rssMb })),
    busy: () => [...children.keys()].reduce((sum, child) => sum + child.underWay().length, 0),
  };
}

/**
 * A clock that counts only the time in which the supervisor could receive messages. While the machine sleeps or the supervisor
 * is suspended it receives none, so of a long gap only a little counts.
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

/** The counters of an ended process stay; its gauges go. */
function lasting(metrics: Snapshot): Snapshot {
  return withoutGauges(CHILD_METRICS, metrics);
}

function addTo(sum: WorkerTally, { tasks, pages, records }: WorkerTally): void {
  sum.tasks += tasks;
  sum.pages += pages;
  sum.records += records;
}
