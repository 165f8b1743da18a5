/**
 * Suspects (F6): tasks that two workers have died with. One of them may kill this worker too, so it is run with nothing
 * beside it: whatever else is in hand ends first, and whoever dies then has only itself to blame.
 * Called by the lease loop between two of its own lease calls; a crash leaves one lease, of the suspect.
 */
import { aloneQueue, type Frontier, type Grant, type LeaseAnswer } from "../frontier/frontier.ts";
import type { Clock } from "../runtime/clock.ts";

export type Alone = {
  /** When to come for suspects of which the first is due then; undefined: not until the frontier tells of one. */
  comeAt(aloneDueAt: number | undefined): number | undefined;
  /** Ends what is in hand, then runs suspects, one at a time, while any are due; not for long, since others wait too. */
  run(signal: AbortSignal): Promise<void>;
};

type Deps = {
  frontier: Pick<Frontier, "lease">;
  /** Whether anything runs. */
  isBusy(): boolean;
  /** Resolves when nothing runs any more, after `mostMs`, or when the worker is to stop. */
  untilIdle(mostMs: number): Promise<void>;
  begin(grant: Grant): void;
  clock: Clock;
};
type Options = { worker: string; queues: readonly string[]; leaseMs: number };

/** How long a worker with other work stays away from it. */
const MOST_MS = 2_000;
/** And how long that work then has it for itself. Who has nothing else to do loses nothing by coming at once. */
const PAUSE_MS = 2_000;
/** How often a worker whose hands are still full asks whether it is still needed. */
const LOOK_MS = 500;
/** What is due so soon is waited for, though others wait. */
const SOON_MS = 50;

export function createAlone({ frontier, isBusy, untilIdle, begin, clock }: Deps, options: Options): Alone {
  const queues = options.queues.map(aloneQueue);
  let lastAt = Number.NEGATIVE_INFINITY;

  function lease(max: 0 | 1): Promise<LeaseAnswer> {
    const { worker, leaseMs } = options;
    return frontier.lease({ worker, queues, max, leaseMs });
  }

  function isSoon(dueAt: number | undefined): dueAt is number {
    return dueAt !== undefined && dueAt <= clock.now() + SOON_MS;
  }

  /**
   * False if meanwhile another has come: a fleet must not stand still for one suspect. Asking for nothing tells the
   * others to see to what comes up in the meantime.
   */
  async function endOthers(signal: AbortSignal): Promise<boolean> {
    while (isBusy() && !signal.aborted) {
      if (!isSoon((await lease(0)).nextDueAt)) return false;
      await untilIdle(LOOK_MS);
    }
    return true;
  }

  /** Whether there may be more. */
  async function runNext(signal: AbortSignal): Promise<boolean> {
    const { grants, nextDueAt } = await lease(1);
    for (const grant of grants) begin(grant);
    while (isBusy() && !signal.aborted) await untilIdle(LOOK_MS);
    if (grants.length > 0) return true;
    if (!isSoon(nextDueAt) || nextDueAt <= clock.now()) return false;
    await clock.sleep(nextDueAt - clock.now(), signal);
    return true;
  }

  return {
    comeAt(aloneDueAt) {
      if (aloneDueAt === undefined) return undefined;
      return isBusy() ? Math.max(aloneDueAt, lastAt + PAUSE_MS) : aloneDueAt;
    },
    async run(signal) {
      if (!(await endOthers(signal))) return;
      const until = clock.now() + MOST_MS;
      while (!signal.aborted && clock.now() < until && (await runNext(signal)));
      lastAt = clock.now();
    },
  };
}
