/**
 * Keeps up to `concurrency` tasks running: leases what may be fetched now, runs each through the chain, settles it, and
 * waits for the frontier to wake it. Stopping: no more leases, running tasks get the grace period, the rest are handed
 * back untouched. Retiring: no more leases, and an end when those that run are over. A broker or store that cannot be
 * written ends the loop with that error: going on would lose work.
 *
 * createLeaseLoop is long because leasing, running and winding down share what runs and whether it is to stop.
 */
import { type Claim, claimKey, claimOf, type Frontier, type Grant } from "../frontier/frontier.ts";
import type { Clock } from "../runtime/clock.ts";
import { deferred } from "../runtime/deferred.ts";
import { createAlone } from "./alone.ts";
import type { RunningTask } from "./lease-keeper.ts";
import { createRooms, type Room } from "./rooms.ts";
import { isOverTime } from "./time-limit.ts";

export type LeaseLoop = {
  start(): void;
  stop(): Promise<void>;
  retire(): void;
  /** Aborts when it retires; not when it stops. */
  retiring: AbortSignal;
  /** Settles when nothing of the loop runs any more: rejects with what broke it. */
  ended: Promise<void>;
  held(): Iterable<RunningTask>;
  /** How many of them. */
  busy(): number;
  /** Which wait for work it is in, while nothing runs and no lease call is under way. */
  idleRound(): number | undefined;
};

type Deps<Result> = {
  frontier: Pick<Frontier, "lease" | "release" | "waitForWork">;
  /** Ends early when `abort` does, by either side. `isAlone`: nothing runs beside it. */
  run(grant: Grant, abort: AbortController, isAlone: boolean): Promise<Result>;
  settler: { settle(result: Result): Promise<void>; flush(): Promise<void> };
  clock: Clock;
};
export type LeaseLoopOptions = {
  worker: string;
  queues: readonly string[];
  /** The same queues, by what limits them beside `concurrency`. Those that come first are asked first. */
  rooms: readonly Room[];
  concurrency: number;
  leaseMs: number;
  graceMs: number;
  /** Retires after so many tasks; Infinity: never. */
  maxTasks: number;
};

/** The longest that a timer takes: tasks of a worker that retires have their own time limits. */
const FOREVER_MS = 2 ** 31 - 1;

/** What is aborted ends within this, unless it does not listen. */
const ABORT_MS = 1_000;

/** A broker that is gone must not hold up the end for its whole patience again: its leases expire by themselves. */
const RELEASE_MS = 5_000;

/** Nobody reads it; without a reason each wait would end with a DOMException and its stack. */
const WOKEN = "woken";

export function createLeaseLoop<Result>(
  { frontier, run, settler, clock }: Deps<Result>,
  options: LeaseLoopOptions,
): LeaseLoop {
  const stopping = new AbortController();
  const retiring = new AbortController();
  const running = new Map<string, RunningTask & { over: Promise<void> }>();
  const unsettled: Claim[] = [];
  const outcome = deferred();
  const ending = AbortSignal.any([stopping.signal, retiring.signal]);
  const rooms = createRooms(frontier, options);
  const alone = createAlone({ frontier, isBusy: () => running.size > 0, untilIdle, begin: beginAlone, clock }, options);
  outcome.promise.catch(() => {}); // whoever awaits `ended` hears of it; nobody has to
  let failure: { cause: unknown } | undefined;
  let isStarted = false;
  let begun = 0;
  let round = 0;
  let isWaiting = false;
  let isFull = false;
  /** A room was full when it was last asked for, and is no longer. */
  let hasRoomAgain = false;
  let wait = new AbortController();
  ending.addEventListener("abort", () => wait.abort(WOKEN), { once: true });

  async function leaseUntilStopped(): Promise<void> {
    let comeAloneAt: number | undefined;
    while (!ending.aborted) {
      // Before the others, who would take the site's next slot each time.
      if (comeAloneAt !== undefined && comeAloneAt <= clock.now()) {
        comeAloneAt = undefined;
        await alone.run(ending);
        continue;
      }
      const free = Math.min(options.concurrency - running.size, options.maxTasks - begun);
      hasRoomAgain = false;
      const answer = await rooms.lease(free, begin);
      comeAloneAt = alone.comeAt(answer.aloneDueAt);
      // With no room left only the end of a task helps, and that wakes. The broker would too, and twice as often.
      isFull = running.size >= options.concurrency;
      const { nextDueAt = Number.MAX_SAFE_INTEGER } = answer;
      const lookAt = Math.min(nextDueAt, comeAloneAt ?? Number.MAX_SAFE_INTEGER);
      round += 1;
      isWaiting = true;
      wait = new AbortController();
      if (!ending.aborted && !hasRoomAgain)
        await (isFull ? clock.sleep(FOREVER_MS, wait.signal) : frontier.waitForWork(lookAt, wait.signal));
      isWaiting = false;
    }
  }

  async function untilIdle(mostMs: number): Promise<void> {
    await overWithin([...running.values()], mostMs, stopping.signal);
  }

  function beginAlone(grant: Grant): void {
    start(grant, true);
  }

  function begin(grant: Grant): void {
    start(grant, false);
  }

  function start(grant: Grant, isAlone: boolean): void {
    const claim = claimOf(grant);
    const abort = new AbortController();
    // By token too: a lease that was lost may come back here while its old run is still ending.
    running.set(claimKey(grant), { claim, abort, over: work(grant, abort, isAlone) });
    begun += 1;
    if (begun >= options.maxTasks) retiring.abort();
  }

  async function work(grant: Grant, abort: AbortController, isAlone: boolean): Promise<void> {
    try {
      await settler.settle(await run(grant, abort, isAlone));
    } catch (error) {
      // Aborted: the lease is lost, or we are stopping and it is handed back below.
      if (abort.signal.aborted && !isOverTime(abort.signal)) return;
      // Handed back as well: a task must not pay with its crash count for a disk that is full.
      unsettled.push(claimOf(grant));
      breakDown(error);
    } finally {
      running.delete(claimKey(grant));
      // The settlement has woken it too, but so early that this task may still have been in the way.
      if (rooms.leave(grant)) hasRoomAgain = true;
      if (isFull || hasRoomAgain) wait.abort(WOKEN);
    }
  }

  function breakDown(cause: unknown): void {
    failure ??= { cause };
    stopping.abort();
  }

  async function windDown(): Promise<void> {
    const left = () => [...running.values()];
    const graceful = overWithin(left(), options.graceMs);
    await settler.flush();
    await graceful;
    const unfinished = left();
    for (const task of unfinished) task.abort.abort(new Error("the worker is stopping"));
    // A spider's handler may not listen to its signal: it cannot be stopped, but must not hold up the end either.
    await overWithin(unfinished, ABORT_MS);
    const unused = [...unsettled, ...unfinished.map((task) => task.claim)];
    if (unused.length > 0) await handBack(unused);
    running.clear();
  }

  async function handBack(claims: readonly Claim[]): Promise<void> {
    const released = new AbortController();
    const call = frontier.release(claims).finally(() => released.abort());
    call.catch(() => {}); // heard below, or too late to matter
    await clock.sleep(RELEASE_MS, released.signal);
    if (released.signal.aborted) await call;
  }

  /** Resolves when these tasks are over, when it has taken too long, or when `giveUp` aborts. Leaves nothing behind. */
  async function overWithin(
    tasks: readonly { over: Promise<void> }[],
    mostMs: number,
    giveUp?: AbortSignal,
  ): Promise<void> {
    const ended = new AbortController();
    const end = () => ended.abort();
    giveUp?.addEventListener("abort", end, { once: true });
    if (giveUp?.aborted) end();
    Promise.all(tasks.map((task) => task.over)).then(end, end);
    await clock.sleep(mostMs, ended.signal);
    giveUp?.removeEventListener("abort", end);
  }

  return {
    start() {
      if (isStarted) return;
      isStarted = true;
      leaseUntilStopped()
        .catch(breakDown)
        .then(() => untilIdle(FOREVER_MS))
        .then(windDown)
        .catch(breakDown)
        .then(() => (failure === undefined ? outcome.resolve() : outcome.reject(failure.cause)));
    },
    retire: () => retiring.abort(),
    retiring: retiring.signal,
    async stop() {
      stopping.abort();
      if (isStarted) await outcome.promise.catch(() => {});
    },
    ended: outcome.promise,
    held: () => running.values(),
    busy: () => running.size,
    idleRound: () => (isWaiting && running.size === 0 ? round : undefined),
  };
}
