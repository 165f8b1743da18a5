/**
 * Keeps up to `concurrency` tasks running: leases tasks that are due, runs each one, settles its result, and waits
 * until the frontier wakes it. When it stops, it leases no more tasks, gives running tasks the grace period to end, and
 * returns the others to the frontier. When it retires, it leases no more tasks, and ends when its running tasks have
 * ended. If the broker or the store cannot be written, the loop ends with that error, since continuing would lose work.
 *
 * createLeaseLoop is long because leasing, running and shutting down share the running tasks and the stop signals.
 */
import { type Claim, claimKey, claimOf, type Frontier, type Grant } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";
import { deferred } from "../../runtime/deferred.ts";
import { isOverTime } from "../task/time-limit.ts";
import type { RunningTask } from "./lease-keeper.ts";
import { createQueueLimits, type QueueLimit } from "./queue-limits.ts";
import { createSuspectRunner } from "./suspect-runner.ts";

export type LeaseLoop = {
  start(): void;
  stop(): Promise<void>;
  retire(): void;
  /** Aborts when the loop retires, but not when it stops. */
  retiring: AbortSignal;
  /** Resolves when the loop and its tasks have ended. Rejects with the error that ended the loop. */
  ended: Promise<void>;
  held(): Iterable<RunningTask>;
  /** The number of running tasks. */
  busy(): number;
  /**
   * Identifies the current wait: the number changes with every lease call. Undefined while a task or a lease call runs.
   */
  idleRound(): number | undefined;
};

type Deps<Result> = {
  frontier: Pick<Frontier, "lease" | "release" | "waitForWork">;
  /**
   * Ends early when `abort` aborts. Both the loop and the task may abort it. `isAlone`: the task is a suspect, and no
   * other task runs.
   */
  run(grant: Grant, abort: AbortController, isAlone: boolean): Promise<Result>;
  settler: { settle(result: Result): Promise<void>; flush(): Promise<void> };
  clock: Clock;
};
export type LeaseLoopOptions = {
  worker: string;
  queues: readonly string[];
  /** The same queues, grouped by limit. Queues of the first limit are leased first. */
  queueLimits: readonly QueueLimit[];
  concurrency: number;
  leaseMs: number;
  graceMs: number;
  /** Retires after this many tasks. Infinity means never. */
  maxTasks: number;
};

/** The longest delay of a timer. Tasks of a retiring worker have their own time limits. */
const FOREVER_MS = 2 ** 31 - 1;

/** An aborted task ends within this time, unless it ignores its signal. */
const ABORT_MS = 1_000;

/** The maximum time for returning tasks. If the broker is lost, the leases expire by themselves. */
const RELEASE_MS = 5_000;

/**
 * The abort reason of waits. It is never read. Without a reason, each abort would create a DOMException with a stack.
 */
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
  const queueLimits = createQueueLimits(frontier, options);
  const suspects = createSuspectRunner(
    { frontier, isBusy: () => running.size > 0, untilIdle, begin: beginAlone, clock },
    options,
  );
  outcome.promise.catch(() => {}); // the caller may handle it through `ended`
  let failure: { cause: unknown } | undefined;
  let isStarted = false;
  let begun = 0;
  let round = 0;
  let isWaiting = false;
  let isFull = false;
  /** True if a queue limit was reached at the last lease call, and a task of its queues has ended since. */
  let hasCapacityAgain = false;
  let wait = new AbortController();
  ending.addEventListener("abort", () => wait.abort(WOKEN), { once: true });

  async function leaseUntilStopped(): Promise<void> {
    let suspectsAt: number | undefined;
    while (!ending.aborted) {
      // Suspects run before other tasks, which would otherwise take the next slot of the site each time.
      if (suspectsAt !== undefined && suspectsAt <= clock.now()) {
        suspectsAt = undefined;
        await suspects.run(ending);
        continue;
      }
      const free = Math.min(options.concurrency - running.size, options.maxTasks - begun);
      hasCapacityAgain = false;
      const answer = await queueLimits.lease(free, begin);
      suspectsAt = suspects.nextRunAt(answer.aloneDueAt);
      // At full concurrency, the loop can lease only after a task has ended, and the end of a task wakes it. If the
      // broker woke it too, it would wake twice as often.
      isFull = running.size >= options.concurrency;
      const { nextDueAt = Number.MAX_SAFE_INTEGER } = answer;
      const leaseAt = Math.min(nextDueAt, suspectsAt ?? Number.MAX_SAFE_INTEGER);
      round += 1;
      isWaiting = true;
      wait = new AbortController();
      if (!ending.aborted && !hasCapacityAgain)
        await (isFull ? clock.sleep(FOREVER_MS, wait.signal) : frontier.waitForWork(leaseAt, wait.signal));
      isWaiting = false;
    }
  }

  async function untilIdle(maxMs: number): Promise<void> {
    await overWithin([...running.values()], maxMs, stopping.signal);
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
    // The key contains the token, because this worker may lease a lost task again while its old attempt still runs.
    running.set(claimKey(grant), { claim, abort, over: work(grant, abort, isAlone) });
    begun += 1;
    if (begun >= options.maxTasks) retiring.abort();
  }

  async function work(grant: Grant, abort: AbortController, isAlone: boolean): Promise<void> {
    try {
      await settler.settle(await run(grant, abort, isAlone));
    } catch (error) {
      // Aborted: the lease is lost, or the worker stops and `windDown` returns the task.
      if (abort.signal.aborted && !isOverTime(abort.signal)) return;
      // `windDown` returns this task too: a full disk must not count as a crash of the task.
      unsettled.push(claimOf(grant));
      fail(error);
    } finally {
      running.delete(claimKey(grant));
      // The settlement wakes the loop too, but possibly before this task was removed from `running`.
      if (queueLimits.leave(grant)) hasCapacityAgain = true;
      if (isFull || hasCapacityAgain) wait.abort(WOKEN);
    }
  }

  function fail(cause: unknown): void {
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
    // A handler may ignore its signal. It cannot be stopped, and must not delay the shutdown.
    await overWithin(unfinished, ABORT_MS);
    const unused = [...unsettled, ...unfinished.map((task) => task.claim)];
    if (unused.length > 0) await returnTasks(unused);
    running.clear();
  }

  async function returnTasks(claims: readonly Claim[]): Promise<void> {
    const released = new AbortController();
    const call = frontier.release(claims).finally(() => released.abort());
    call.catch(() => {}); // handled below; after RELEASE_MS it is ignored
    await clock.sleep(RELEASE_MS, released.signal);
    if (released.signal.aborted) await call;
  }

  /**
   * Resolves when these tasks are over, after `maxMs`, or when `giveUp` aborts. Leaves no timer or listener behind.
   */
  async function overWithin(
    tasks: readonly { over: Promise<void> }[],
    maxMs: number,
    giveUp?: AbortSignal,
  ): Promise<void> {
    const ended = new AbortController();
    const end = () => ended.abort();
    giveUp?.addEventListener("abort", end, { once: true });
    if (giveUp?.aborted) end();
    Promise.all(tasks.map((task) => task.over)).then(end, end);
    await clock.sleep(maxMs, ended.signal);
    giveUp?.removeEventListener("abort", end);
  }

  return {
    start() {
      if (isStarted) return;
      isStarted = true;
      leaseUntilStopped()
        .catch(fail)
        .then(() => untilIdle(FOREVER_MS))
        .then(windDown)
        .catch(fail)
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
