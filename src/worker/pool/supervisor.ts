/**
 * Keeps worker processes running, and never dies with one. Each has a place: when its process dies, what that held is
 * judged and handed back at once (blame.ts) and another is started, after a while if it died at once; when it retires,
 * the next one is started before it has gone. One that lacks a browser is followed by others, less and less often. One
 * that says that nobody can work here (the broker is lost) ends all. Called by the command line, once. A crash of the
 * supervisor leaves processes that see their channel close, and stop by themselves.
 *
 * createSupervisor is long because starting, watching and stopping share which processes there are.
 */
import { TrawlError } from "../../errors.ts";
import type { Frontier } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import { mergeSnapshots, type Snapshot, withoutGauges } from "../../runtime/metrics.ts";
import type { Service } from "../../runtime/service.ts";
import type { TryWrite } from "../../store/store.ts";
import type { WorkerTally } from "../worker.ts";
import { CHILD_METRICS } from "../worker-metrics.ts";
import { blameFor } from "./blame.ts";
import type { ChildExit, PoolChild } from "./child-process.ts";
import { lastTries } from "./last-tries.ts";
import type { ChildFailure } from "./messages.ts";
import { hasLived, restartDelayMs } from "./restart-delay.ts";
import { type ChildLimits, isSilent, judgeChild, type KillReason } from "./verdict.ts";

export type Supervisor = Service & {
  /**
   * Resolves when every place is empty for good: all were stopped, or nothing is left to do. Rejects, once they are, with
   * what kept a process from working at all.
   */
  ended: Promise<void>;
  /**
   * Lets all of them end what they have in hand, however long that takes; nobody takes their places. Those of groups that
   * outlast are stopped when the others have gone.
   */
  drain(): void;
  /** At once, without asking: for a process that is about to exit itself. */
  killAll(): void;
  tally(): WorkerTally;
  /** Tasks under way, as last heard. */
  busy(): number;
  /** What all of them have counted, those that are gone included, and how those that are there stand. */
  metrics(): Snapshot;
  /** What each process does, as last heard. */
  processes(): readonly ProcessStatus[];
};

export type ProcessStatus = Place & { busy: number; rssMb: number };

/** Where a process runs: its successors have the same. */
export type Place = {
  /** From 1, within its group. */
  nth: number;
  /** Undefined where there is but one. */
  group: string | undefined;
};

export type ChildDeath = Place & {
  pid: number;
  exit: ChildExit;
  /** Undefined: not by us. */
  killed: KillReason | undefined;
  /** What it was last heard to have in hand. */
  underWay: readonly { taskId: string; url: string; isReading: boolean; forMs: number }[];
  /** How many leases were handed back; undefined where the broker could not be told. */
  handedBack: number | undefined;
};

export type SupervisorEvents = {
  started(child: Place & { pid: number }): void;
  ended(death: ChildDeath): void;
  /** The next process of this place is started only after a while. */
  waiting(place: Place & { delayMs: number }): void;
  /** A dead letter of the supervisor's own was the last of this job. */
  finished(jobId: string): void;
};

type Deps = {
  frontier: Pick<Frontier, "settle" | "release" | "abandon" | "withdraw">;
  startChild(place: Place, now: () => number): PoolChild;
  /** What the system knows of a process that may be stuck. */
  findRssMb(pid: number): number | undefined;
  /** What is known of tasks that a process died with. */
  keepTries(tries: readonly TryWrite[]): Promise<void>;
  events: SupervisorEvents;
  clock: Clock;
  log: Log;
};

export type SupervisorOptions = ChildLimits & {
  places: readonly Place[];
  graceMs: number;
  /** Groups that do not drain with the others, and do no work: what a worker may take is no measure for them. */
  outlasting: ReadonlySet<Place["group"]>;
  /** Until it resolves only groups that outlast are started: what keeps these from running keeps the others from work. */
  led?: Promise<void>;
};

/** How a process was, and when it has gone: one that retires is still there. */
type Life = { life: "drained" | "of-use" | "of-no-use"; exit: Promise<ChildExit> | undefined };

const LOOK_MS = 500;
/** Beyond the grace period: what a worker needs to abort what is left, hand it back and close. */
export const STOP_SLACK_MS = 8_000;

export function createSupervisor(deps: Deps, options: SupervisorOptions): Supervisor {
  const { frontier, events, clock, log } = deps;
  const stopping = new AbortController();
  /** Nobody is to take an empty place: also aborts with `stopping`. */
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
  ended.catch(() => {}); // whoever awaits it hears of it

  async function run(): Promise<void> {
    const looking = lookUntilOver();
    await Promise.all(options.places.map(keepPlace));
    // Those that have retired may still be at their last tasks.
    await Promise.all([...children.values()].map(({ exit }) => exit));
    over.abort();
    await looking;
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
      // One may be leaving while the next is at work, not two: slow pages would pile up processes.
      await leaving;
      leaving = exit;
      diedAtOnce = life === "of-use" ? 0 : diedAtOnce + 1;
      const delayMs = restartDelayMs(diedAtOnce);
      if (delayMs > 0 && !emptying.signal.aborted) events.waiting({ ...place, delayMs });
      await clock.sleep(delayMs, emptying.signal);
    }
  }

  /** Resolves when another may take its place. */
  async function liveOnce(place: Place): Promise<Life> {
    const child = tryStart(place);
    if (child === undefined) return { life: "of-no-use", exit: undefined };
    const exit = tend(child, place);
    children.set(child, { place, exit });
    events.started({ ...place, pid: child.pid });
    const gone = await Promise.race([exit, child.retiring]);
    if (child.isDrained) {
      await exit;
      return { life: "drained", exit };
    }
    // Who retires will end what it has in hand; who is dead has not.
    const tasksEnded = child.tasksEnded + (gone === undefined ? child.underWay().length : 0);
    // What it lacks the next one will lack as well, whatever it got done beside that: it has handed back the rest.
    const isOfUse = gone?.lack === undefined && hasLived({ livedMs: watching.now() - child.startedAt, tasksEnded });
    return { life: isOfUse ? "of-use" : "of-no-use", exit };
  }

  function tryStart(place: Place): PoolChild | undefined {
    try {
      return deps.startChild(place, watching.now);
    } catch (cause) {
      log.error("pool.start_failed", { ...place, cause }); // no memory for it, say: later there may be
      return undefined;
    }
  }

  /** Sees a process to its end, and to what it leaves behind. */
  async function tend(child: PoolChild, place: Place): Promise<ChildExit> {
    const exit = await child.ended;
    if (exit.failure !== undefined) fail(exit.failure);
    const underWay = child.underWay().map(({ taskId, url, isReading, beganAt }) => {
      return { taskId, url, isReading, forMs: watching.now() - beganAt };
    });
    const handedBack = exit.isClean ? 0 : await handBack(child, exit);
    children.delete(child);
    addTo(before, child.tally);
    if (child.metrics !== undefined) counted = mergeSnapshots(CHILD_METRICS, [counted, lasting(child.metrics)]);
    events.ended({ ...place, pid: child.pid, exit, killed: killed.get(child), underWay, handedBack });
    killed.delete(child);
    stopOutlasting();
    return exit;
  }

  /** Nobody can work here: the others stop, and nobody takes their places. */
  function fail(cause: ChildFailure): void {
    failure ??= cause;
    void stopAll();
  }

  async function handBack(child: PoolChild, exit: ChildExit): Promise<number | undefined> {
    const { worker } = child;
    if (worker === undefined) return 0;
    // A broker that is lost would only hold up the end: leases lapse by themselves.
    if (failure !== undefined) return undefined;
    const death = { exit, killed: killed.get(child), underWay: child.underWay() };
    const blame = blameFor(death, options);
    const { guilty, innocent } = blame;
    const times = { watchedAt: watching.now(), endedAt: clock.now() };
    try {
      // First those whose fate is known: what is left is counted as a crash.
      const { finished, verdicts } = guilty.length > 0 ? await frontier.settle(guilty) : { finished: [], verdicts: [] };
      // Its leases had lapsed: another process has them now, and finds out for itself.
      if (verdicts.includes("stale"))
        log.warn("pool.blamed_too_late", { worker, tasks: guilty.map((one) => one.taskId) });
      if (innocent.length > 0) await frontier.release(innocent);
      const count = await frontier.abandon(worker);
      await frontier.withdraw(worker);
      for (const jobId of finished) events.finished(jobId);
      return innocent.length + count;
    } catch (cause) {
      // Only late: its leases end.
      log.warn("pool.hand_back_failed", { worker, cause });
      return undefined;
    } finally {
      // Last: until its leases are handed back, a neighbour may find them and know less of how they ended.
      await keepTries(worker, lastTries(death, blame, { worker, limits: options, ...times }));
    }
  }

  async function keepTries(worker: string, tries: readonly TryWrite[]): Promise<void> {
    // Only the story has a gap.
    await deps.keepTries(tries).catch((cause: unknown) => log.warn("pool.tries_not_kept", { worker, cause }));
  }

  async function lookUntilOver(): Promise<void> {
    while (!over.signal.aborted) {
      await clock.sleep(LOOK_MS, over.signal);
      watching.look();
      for (const [child, { place }] of children) {
        const reason = verdictOn(child, place);
        if (reason !== undefined) kill(child, reason);
      }
    }
  }

  function verdictOn(child: PoolChild, { group }: Place): KillReason | undefined {
    const now = watching.now();
    // Who is stuck does not hear that it is to stop: it gets the grace period, as all do, and no more.
    if (now - stoppingSince > options.graceMs && isSilent(child, now)) return "stop_timeout";
    if (options.outlasting.has(group)) return undefined;
    const state = { rssMb: rssMbOf(child), heardAt: child.heardAt, underWay: child.underWay() };
    return judgeChild(state, options, now);
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
      const told = [...children.keys()].map(({ metrics }) => metrics ?? {});
      return mergeSnapshots(CHILD_METRICS, [counted, ...told]);
    },
    processes: () =>
      [...children].map(([child, { place }]) => ({ ...place, busy: child.underWay().length, rssMb: child.rssMb })),
    busy: () => [...children.keys()].reduce((sum, child) => sum + child.underWay().length, 0),
  };
}

/**
 * The time during which children could be heard. A machine that sleeps, or a supervisor that is suspended, hears nobody,
 * which is no fault of theirs: of a long gap only a little counts.
 */
function createWatch(clock: Clock): { now(): number; look(): void } {
  let lookedAt = clock.now();
  let watchedMs = 0;
  const sinceLook = () => Math.min(Math.max(0, clock.now() - lookedAt), 2 * LOOK_MS);
  return {
    now: () => watchedMs + sinceLook(),
    look() {
      watchedMs += sinceLook();
      lookedAt = clock.now();
    },
  };
}

/** A process that is gone stands for nothing, and what it counted stays. */
function lasting(metrics: Snapshot): Snapshot {
  return withoutGauges(CHILD_METRICS, metrics);
}

function addTo(sum: WorkerTally, { tasks, pages, records }: WorkerTally): void {
  sum.tasks += tasks;
  sum.pages += pages;
  sum.records += records;
}
