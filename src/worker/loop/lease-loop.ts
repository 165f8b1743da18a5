/**
 * Keeps up to `concurrency` tasks running: leases tasks, passes them to the pacer, runs each one when the pacer starts
 * it, settles its result, and waits until the frontier or the pacer wakes it. When it stops, it leases no more tasks,
 * gives running tasks the grace period to end, and returns the others to the frontier. When it retires, it leases no
 * more tasks, and ends when its running tasks have ended. If a write to the broker or the store fails, the loop ends
 * with that error, since continuing would lose work.
 *
 * createLeaseLoop is long because leasing, running and shutting down share the running tasks and the stop signals.
 */
import { type Claim, claimKey, claimOf, type Frontier, type Grant, type LeaseAnswer } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";
import { deferred } from "../../runtime/deferred.ts";
import type { Pacer } from "../pace/pacer-interface.ts";
import { isOverTime } from "../task/time-limit.ts";
import { createDemand } from "./demand.ts";
import type { HeldLease } from "./lease-keeper.ts";
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
  held(): Iterable<HeldLease>;
  /** The number of running tasks. */
  busy(): number;
  /**
   * Identifies the current wait: the number changes with every lease call. Undefined while a task or a lease call runs.
   */
  idleRound(): number | undefined;
};

type Deps<Result> = {
  frontier: Pick<Frontier, "lease" | "release" | "returnTerms" | "waitForWork">;
  pacer: Pacer;
  /**
   * Ends early when `abort` aborts. Both the loop and the task may abort it. `isAlone`: the task is a suspect, and no
   * other task runs.
   */
  run(grant: Grant, abort: AbortController, isAlone: boolean): Promise<Result>;
  settler: { settle(result: Result): Promise<void>; flush(): Promise<void> };
  clock: Clock;
};
type RunningTask = { claim: Claim; abort: AbortController; over: Promise<void> };

/** `collectAt`: when to collect terms from the pacer, unless the pacer requests an earlier time through `onLow`. */
type Leased = Pick<LeaseAnswer, "nextDueAt" | "aloneDueAt"> & { collectAt: number; hasGrants: boolean };

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

const NEVER = Number.MAX_SAFE_INTEGER;

/** The longest delay that a timer supports. Waits for tasks to end need no other limit: each task has a time limit. */
const FOREVER_MS = 2 ** 31 - 1;

/** An aborted task ends within this time, unless it ignores its signal. */
const ABORT_MS = 1_000;

/** The maximum time for returning tasks. If the broker is lost, the leases expire by themselves. */
const RELEASE_MS = 5_000;

/**
 * The abort reason of waits. It is never read. Without a reason, each abort would create a DOMException with a stack.
 */
const WOKEN = "woken";

/** Sites that are due within this time are leased too, and their terms start when they are due. */
const LOOKAHEAD_MS = 250;
/** A lease call is made this long before a site is due. */
const LEAD_MS = 50;
/** While tasks wait for their start time, lease calls are at least this far apart. */
const CALL_GAP_MS = 25;

export function createLeaseLoop<Result>(
  { frontier, pacer, run, settler, clock }: Deps<Result>,
  options: LeaseLoopOptions,
): LeaseLoop {
  const stopping = new AbortController();
  const retiring = new AbortController();
  const running = new Map<string, RunningTask>();
  const unsettled: Claim[] = [];
  const outcome = deferred();
  const ending = AbortSignal.any([stopping.signal, retiring.signal]);
  const queueLimits = createQueueLimits(frontier, { ...options, lookaheadMs: LOOKAHEAD_MS });
  const demand = createDemand(clock, options);
  const suspects = createSuspectRunner(
    { frontier, isBusy: () => running.size + pacer.waiting() > 0, untilIdle, begin: beginAlone, clock },
    options,
  );
  pacer.attach({ start: begin, onLow: leaseBy });
  outcome.promise.catch(() => {}); // the caller may handle it through `ended`
  let failure: { cause: unknown } | undefined;
  let isStarted = false;
  let begun = 0;
  let round = 0;
  let isWaiting = false;
  let isFull = false;
  let runsSuspects = false;
  let leaseAt = 0;
  /** True if a queue limit was reached at the last lease call, and a task of its queues has ended since. */
  let hasCapacityAgain = false;
  let wait = new AbortController();
  ending.addEventListener("abort", () => wait.abort(WOKEN), { once: true });

  async function leaseUntilStopped(): Promise<void> {
    let suspectsAt: number | undefined;
    while (!ending.aborted) {
      // Suspects run before other tasks, which would otherwise take the next term of the site each time.
      if (suspectsAt !== undefined && suspectsAt <= clock.now()) {
        suspectsAt = undefined;
        await runSuspects();
        continue;
      }
      leaseAt = NEVER; // the pacer may call `leaseBy` from now on
      const { nextDueAt = NEVER, aloneDueAt, collectAt, hasGrants } = await leaseOnce();
      suspectsAt = suspects.nextRunAt(aloneDueAt);
      // At full concurrency the loop can lease only after a task has ended. The end of a task wakes the loop, so it
      // does not wait for the broker, which would wake it twice as often.
      isFull = running.size >= options.concurrency;
      leaseAt = Math.min(leaseAt, callTime(nextDueAt, hasGrants), collectAt, suspectsAt ?? NEVER);
      round += 1;
      isWaiting = true;
      await untilLeaseTime(clock.now());
      isWaiting = false;
    }
  }

  /**
   * When to lease a task that is due at `nextDueAt`. If the last call granted nothing, an immediate second call would
   * grant nothing either: a retry is not granted before its time, and another worker may take a site that was just
   * returned.
   */
  function callTime(nextDueAt: number, hasGrants: boolean): number {
    if (hasGrants) return nextDueAt - LEAD_MS;
    const soon = clock.now() + CALL_GAP_MS;
    return Math.max(nextDueAt - LEAD_MS, nextDueAt > clock.now() ? Math.min(soon, nextDueAt) : soon);
  }

  async function leaseOnce(): Promise<Leased> {
    const { returned, late, nextAt } = pacer.collect();
    if (late.length > 0) await release(late);
    const unsettled = pacer.unsettled();
    const free = options.maxTasks - begun - pacer.waiting();
    const max = Math.max(0, Math.min(demand.most(pacer.wasLate()) - running.size - pacer.waiting(), free));
    const maxNow = Math.max(0, Math.min(options.concurrency - running.size, max));
    hasCapacityAgain = false;
    let hasGrants = false;
    const answer = await queueLimits.lease({ max, maxNow, returned }, (granted) => {
      hasGrants ||= granted.grants.length > 0;
      pacer.add(granted, unsettled);
    });
    const stranded = pacer.takeStranded();
    if (stranded.length > 0) await release(stranded);
    return { ...answer, collectAt: nextAt, hasGrants };
  }

  /**
   * Waits until `leaseAt`, or until the frontier or the end of a task wakes the loop. While tasks wait for their start
   * time, no wake-up is urgent.
   */
  async function untilLeaseTime(calledAt: number): Promise<void> {
    const isBlocked = () => isFull && pacer.waiting() === 0;
    while (!ending.aborted && !hasCapacityAgain && (isBlocked() || clock.now() < leaseAt)) {
      wait = new AbortController();
      const until = leaseAt;
      await (isBlocked() ? clock.sleep(FOREVER_MS, wait.signal) : frontier.waitForWork(until, wait.signal));
      // Continues only if `leaseBy` has set an earlier time. All other wake-ups end the wait.
      if (leaseAt === until || !wait.signal.aborted) break;
    }
    if (pacer.waiting() === 0 || ending.aborted) return;
    await clock.sleep(calledAt + CALL_GAP_MS - clock.now(), ending);
  }

  /** Called by the pacer, which needs a lease call at this time. */
  function leaseBy(at: number): void {
    if (at >= leaseAt) return;
    leaseAt = at;
    if (isWaiting) wait.abort(WOKEN);
  }

  async function runSuspects(): Promise<void> {
    const { returned, late } = pacer.drop();
    if (late.length > 0) await release(late);
    if (returned.length > 0) await frontier.returnTerms(returned);
    runsSuspects = true;
    await suspects.run(ending);
    runsSuspects = false;
  }

  async function release(claims: readonly Claim[]): Promise<void> {
    for (const claim of claims) queueLimits.leave(claim);
    await frontier.release(claims);
  }

  async function untilIdle(maxMs: number): Promise<void> {
    await overWithin([...running.values()], maxMs, stopping.signal);
  }

  function beginAlone(answer: LeaseAnswer): void {
    pacer.add(answer, pacer.unsettled());
  }

  function begin(grant: Grant): void {
    const claim = claimOf(grant);
    const abort = new AbortController();
    // The key contains the token, because this worker may lease a lost task again while its old attempt still runs.
    running.set(claimKey(grant), { claim, abort, over: work(grant, abort, runsSuspects) });
    begun += 1;
    demand.started();
    if (begun >= options.maxTasks) retiring.abort();
  }

  async function work(grant: Grant, abort: AbortController, isAlone: boolean): Promise<void> {
    try {
      await settler.settle(await runInPace(grant, abort, isAlone));
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
      pacer.over(grant);
      if (isFull || hasCapacityAgain) wait.abort(WOKEN);
    }
  }

  async function runInPace(grant: Grant, abort: AbortController, isAlone: boolean): Promise<Result> {
    try {
      return await run(grant, abort, isAlone);
    } finally {
      pacer.ended(grant);
    }
  }

  function* held(): Generator<HeldLease> {
    for (const { claim, abort } of running.values()) yield { claim, lose: (reason) => abort.abort(reason) };
    for (const claim of pacer.unstarted()) yield { claim, lose: () => loseUnstarted(claim) };
  }

  function loseUnstarted(claim: Claim): void {
    if (pacer.forget(claim) && queueLimits.leave(claim)) hasCapacityAgain = true;
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
    const { returned } = pacer.drop();
    pacer.stop();
    if (returned.length > 0) await within(RELEASE_MS, frontier.returnTerms(returned));
  }

  async function returnUnstarted(): Promise<void> {
    const { returned, late } = pacer.drop();
    if (late.length > 0) await returnTasks(late);
    if (returned.length > 0) await within(RELEASE_MS, frontier.returnTerms(returned));
  }

  async function returnTasks(claims: readonly Claim[]): Promise<void> {
    for (const claim of claims) pacer.settling(claim);
    await within(RELEASE_MS, frontier.release(claims));
  }

  /** Waits for a call for at most `ms`. A later result or error is ignored. */
  async function within(ms: number, work: Promise<void>): Promise<void> {
    const ended = new AbortController();
    const call = work.finally(() => ended.abort());
    call.catch(() => {}); // handled below, or ignored if it comes too late
    await clock.sleep(ms, ended.signal);
    if (ended.signal.aborted) await call;
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
        .then(returnUnstarted)
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
    held,
    busy: () => running.size,
    idleRound: () => (isWaiting && running.size + pacer.waiting() === 0 ? round : undefined),
  };
}
