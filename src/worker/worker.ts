/** One worker of a process: the lease loop with the small services that keep it honest. */
import type { Frontier } from "../frontier/frontier.ts";
import type { FrontierAdmin } from "../frontier/frontier-admin.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Bodies } from "../store/bodies/bodies.ts";
import type { Store } from "../store/store.ts";
import type { JobBook } from "./job-book.ts";
import { createLeaseKeeper } from "./lease-keeper.ts";
import { createLeaseLoop, type LeaseLoopOptions } from "./lease-loop.ts";
import { createReaper } from "./reaper.ts";
import { type RunTaskDeps, type RunTaskOptions, runTask } from "./run-task.ts";
import { createSettler } from "./settler.ts";

export type Worker = {
  start(): void;
  /** Stops leasing, lets running tasks finish within the grace period, hands the rest back. */
  stop(): Promise<void>;
  /** Settles when the worker has ended: rejects with what broke it. */
  ended: Promise<void>;
  /** Tasks under way right now. */
  busy(): number;
};

export type WorkerDeps = RunTaskDeps & {
  frontier: Frontier & FrontierAdmin;
  store: Store;
  bodies: Bodies;
  book: JobBook;
  mayBeAlive(worker: string): boolean;
  onFinished(jobId: string): void;
  clock: Clock;
  log: Log;
};

export type WorkerOptions = RunTaskOptions & LeaseLoopOptions & { flushMs: number };

/** Results written together at most. */
const BATCH_MOST = 32;
const REAP_EVERY_MS = 5_000;

export function createWorker(deps: WorkerDeps, options: WorkerOptions): Worker {
  const { frontier, store, bodies, book, mayBeAlive, onFinished, clock, log } = deps;
  const settler = createSettler(
    { store, bodies, frontier, onFinished, log, busy: (): number => loop.busy() },
    { flushMs: options.flushMs, batchMost: BATCH_MOST },
  );
  const loop = createLeaseLoop(
    {
      frontier,
      settler,
      clock,
      run: async (grant, signal) => runTask({ deps, options, grant, signal, plan: await book.planOf(grant.jobId) }),
    },
    options,
  );
  const keeper = createLeaseKeeper({ frontier, held: loop.held, clock, log }, { leaseMs: options.leaseMs });
  const reaper = createReaper({ frontier, mayBeAlive, clock, log }, { everyMs: REAP_EVERY_MS, batch: 500 });

  return {
    start() {
      reaper.start();
      keeper.start();
      loop.start();
    },
    async stop() {
      // The keeper goes last: running tasks need their leases until they are settled.
      await reaper.stop();
      await loop.stop();
      await keeper.stop();
    },
    ended: loop.ended,
    busy: loop.busy,
  };
}
