/**
 * Runs suspects (F6): tasks during which two workers died. A suspect may kill this worker too, so it runs alone: the
 * worker first finishes its other tasks. If the worker then dies, the suspect is the cause. The lease loop calls this
 * runner between two of its own lease calls. A crash leaves only the lease of the suspect.
 */
import { aloneQueue, type Frontier, type LeaseAnswer } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";

type SuspectRunner = {
  /** When to run suspects. `aloneDueAt`: when the first suspect is due; undefined if there is none. */
  nextRunAt(aloneDueAt: number | undefined): number | undefined;
  /**
   * Lets running tasks end, then runs due suspects one at a time, for at most `MAX_MS`, because other tasks are
   * waiting.
   */
  run(signal: AbortSignal): Promise<void>;
};

type Deps = {
  frontier: Pick<Frontier, "lease">;
  /** Whether any task runs. */
  isBusy(): boolean;
  /** Resolves when no task runs, after `maxMs`, or when the worker stops. */
  untilIdle(maxMs: number): Promise<void>;
  begin(answer: LeaseAnswer): void;
  clock: Clock;
};
type Options = { worker: string; queues: readonly string[]; leaseMs: number };

/** The maximum time for which a worker runs suspects while other tasks wait. */
const MAX_MS = 2_000;
/** How long other tasks then run before the next suspects. An idle worker runs suspects at once. */
const PAUSE_MS = 2_000;
/** How often a worker with running tasks checks whether the suspect still waits. */
const POLL_MS = 500;
/** If a suspect is due within this time, the worker waits for it, although other tasks are waiting. */
const SOON_MS = 50;

export function createSuspectRunner(
  { frontier, isBusy, untilIdle, begin, clock }: Deps,
  options: Options,
): SuspectRunner {
  const queues = options.queues.map(aloneQueue);
  let lastAt = Number.NEGATIVE_INFINITY;

  function lease(max: 0 | 1): Promise<LeaseAnswer> {
    const { worker, leaseMs } = options;
    return frontier.lease({ worker, queues, max, maxNow: max, leaseMs, lookaheadMs: 0, returned: [] });
  }

  function isSoon(dueAt: number | undefined): dueAt is number {
    return dueAt !== undefined && dueAt <= clock.now() + SOON_MS;
  }

  /**
   * Waits until the running tasks have ended. Returns false if another worker has leased the suspect in the meantime:
   * one suspect must not stop all workers of a fleet. A lease call with max 0 makes the frontier wake other workers for
   * tasks that become due.
   */
  async function endOthers(signal: AbortSignal): Promise<boolean> {
    while (isBusy() && !signal.aborted) {
      if (!isSoon((await lease(0)).nextDueAt)) return false;
      await untilIdle(POLL_MS);
    }
    return true;
  }

  /** Runs the next suspect, if one is due. Returns true if there may be more suspects. */
  async function runNext(signal: AbortSignal): Promise<boolean> {
    const answer = await lease(1);
    const { grants, nextDueAt } = answer;
    begin(answer);
    while (isBusy() && !signal.aborted) await untilIdle(POLL_MS);
    if (grants.length > 0) return true;
    if (!isSoon(nextDueAt) || nextDueAt <= clock.now()) return false;
    await clock.sleep(nextDueAt - clock.now(), signal);
    return true;
  }

  return {
    nextRunAt(aloneDueAt) {
      if (aloneDueAt === undefined) return undefined;
      return isBusy() ? Math.max(aloneDueAt, lastAt + PAUSE_MS) : aloneDueAt;
    },
    async run(signal) {
      if (!(await endOthers(signal))) return;
      const until = clock.now() + MAX_MS;
      while (!signal.aborted && clock.now() < until && (await runNext(signal)));
      lastAt = clock.now();
    },
  };
}
