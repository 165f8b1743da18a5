/**
 * Keeps `processes` worker processes running, and never dies with one. Each has a place: when its process dies, what
 * that held is handed back at once (F6 counts the crash) and another is started, after a while if it died at once; when
 * it retires, the next one is started before it has gone. Called by the command line, once. A crash of the supervisor
 * leaves processes that see their channel close, and stop by themselves.
 */
import type { Frontier } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Service } from "../../runtime/service.ts";
import type { WorkerTally } from "../worker.ts";
import type { ChildExit, PoolChild } from "./child-process.ts";
import { hasLived, restartDelayMs } from "./restart-delay.ts";
import { type ChildLimits, judgeChild, type KillReason } from "./verdict.ts";

export type Supervisor = Service & {
  /** Resolves when every place is empty for good: all were stopped, or nothing is left to do. */
  ended: Promise<void>;
  /** At once, without asking: for a process that is about to exit itself. */
  killAll(): void;
  tally(): WorkerTally;
  /** Tasks under way, as last heard. */
  busy(): number;
};

export type ChildDeath = {
  nth: number;
  pid: number;
  exit: ChildExit;
  /** Undefined: not by us. */
  killed: KillReason | undefined;
  /** What it was last heard to have in hand. */
  underWay: readonly { taskId: string; url: string; forMs: number }[];
  /** How many leases were handed back; undefined where the broker could not be told. */
  handedBack: number | undefined;
};

export type SupervisorEvents = {
  started(child: { nth: number; pid: number }): void;
  ended(death: ChildDeath): void;
  /** The next process of this place is started only after a while. */
  waiting(place: { nth: number; delayMs: number }): void;
};

type Deps = {
  frontier: Pick<Frontier, "abandon" | "withdraw">;
  startChild(nth: number, now: () => number): PoolChild;
  /** What the system knows of a process that may be stuck. */
  findRssMb(pid: number): number | undefined;
  events: SupervisorEvents;
  clock: Clock;
  log: Log;
};

export type SupervisorOptions = ChildLimits & { processes: number; graceMs: number };

const LOOK_MS = 500;
/** Beyond the grace period: what a worker needs to abort what is left, hand it back and close. */
export const STOP_SLACK_MS = 8_000;

export function createSupervisor(deps: Deps, options: SupervisorOptions): Supervisor {
  const { frontier, events, clock, log } = deps;
  const stopping = new AbortController();
  const over = new AbortController();
  const children = new Map<PoolChild, Promise<ChildExit>>();
  const killed = new Map<PoolChild, KillReason>();
  const before: WorkerTally = { tasks: 0, pages: 0, records: 0 };
  const watching = createWatch(clock);
  let running: Promise<void> | undefined;
  const outcome = { resolve: () => {}, reject: (_cause: unknown) => {} };
  const ended = new Promise<void>((resolve, reject) => {
    Object.assign(outcome, { resolve, reject });
  });

  async function run(): Promise<void> {
    const looking = lookUntilOver();
    await Promise.all(Array.from({ length: options.processes }, (_, nth) => keepPlace(nth + 1)));
    // Those that have retired may still be at their last tasks.
    await Promise.all(children.values());
    over.abort();
    await looking;
  }

  async function keepPlace(nth: number): Promise<void> {
    let diedAtOnce = 0;
    while (!stopping.signal.aborted) {
      const life = await liveOnce(nth);
      if (life === "drained") return;
      diedAtOnce = life === "of-use" ? 0 : diedAtOnce + 1;
      const delayMs = restartDelayMs(diedAtOnce);
      if (delayMs > 0 && !stopping.signal.aborted) events.waiting({ nth, delayMs });
      await clock.sleep(delayMs, stopping.signal);
    }
  }

  /** Resolves when another may take its place. */
  async function liveOnce(nth: number): Promise<"drained" | "of-use" | "of-no-use"> {
    const child = tryStart(nth);
    if (child === undefined) return "of-no-use";
    const exit = tend(child);
    children.set(child, exit);
    events.started({ nth, pid: child.pid });
    const isRetiring = await Promise.race([exit.then(() => false), child.retiring.then(() => true)]);
    if (child.isDrained) {
      await exit;
      return "drained";
    }
    // Who retires will end what it has in hand; who is dead has not.
    const tasksEnded = child.tasksEnded + (isRetiring ? child.underWay().length : 0);
    return hasLived({ livedMs: watching.now() - child.startedAt, tasksEnded }) ? "of-use" : "of-no-use";
  }

  function tryStart(nth: number): PoolChild | undefined {
    try {
      return deps.startChild(nth, watching.now);
    } catch (cause) {
      log.error("pool.start_failed", { process: nth, cause }); // no memory for it, say: later there may be
      return undefined;
    }
  }

  /** Sees a process to its end, and to what it leaves behind. */
  async function tend(child: PoolChild): Promise<ChildExit> {
    const exit = await child.ended;
    const { nth, pid } = child;
    const underWay = child.underWay().map(({ taskId, url, beganAt }) => {
      return { taskId, url, forMs: watching.now() - beganAt };
    });
    const handedBack = exit.isClean ? 0 : await handBack(child);
    children.delete(child);
    addTo(before, child.tally);
    events.ended({ nth, pid, exit, killed: killed.get(child), underWay, handedBack });
    killed.delete(child);
    return exit;
  }

  async function handBack({ worker }: PoolChild): Promise<number | undefined> {
    if (worker === undefined) return 0;
    try {
      const count = await frontier.abandon(worker);
      await frontier.withdraw(worker);
      return count;
    } catch (cause) {
      // Only late: its neighbours see that it is dead, and its leases end.
      log.warn("pool.hand_back_failed", { worker, cause });
      return undefined;
    }
  }

  async function lookUntilOver(): Promise<void> {
    while (!over.signal.aborted) {
      await clock.sleep(LOOK_MS, over.signal);
      watching.look();
      for (const child of children.keys()) {
        const state = { rssMb: rssMbOf(child), heardAt: child.heardAt, underWay: child.underWay() };
        const reason = judgeChild(state, options, watching.now());
        if (reason !== undefined) kill(child, reason);
      }
    }
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
    stopping.abort();
    for (const child of children.keys()) child.stop();
    await clock.sleep(options.graceMs + STOP_SLACK_MS, over.signal);
    for (const child of children.keys()) kill(child, "stop_timeout");
  }

  return {
    start() {
      running ??= run().then(outcome.resolve, outcome.reject);
    },
    async stop() {
      if (running === undefined) return;
      await Promise.all([stopAll(), running]);
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

function addTo(sum: WorkerTally, { tasks, pages, records }: WorkerTally): void {
  sum.tasks += tasks;
  sum.pages += pages;
  sum.records += records;
}
