/**
 * Renews the leases of all tasks that the worker holds, every third of `leaseMs`. Tasks that wait for their start time
 * are included: at a site that responds slowly, they may wait for longer than a lease.
 */
import type { Claim, Frontier } from "../../frontier/frontier.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";
import type { Service } from "../../runtime/service.ts";

/** `lose`: called if the lease of the task is lost. */
export type HeldLease = { claim: Claim; lose(reason: Error): void };

type Deps = { frontier: Pick<Frontier, "extend">; held: () => Iterable<HeldLease>; clock: Clock; log: Log };

export function createLeaseKeeper({ frontier, held, clock, log }: Deps, { leaseMs }: { leaseMs: number }): Service {
  const stopping = new AbortController();
  let loop: Promise<void> | undefined;

  async function renewUntilStopped(): Promise<void> {
    for (;;) {
      await clock.sleep(leaseMs / 3, stopping.signal);
      if (stopping.signal.aborted) return;
      // After a failed renewal, the next one still comes before the lease expires.
      await renew().catch((cause: unknown) => log.warn("lease_keeper.renew_failed", { cause }));
    }
  }

  async function renew(): Promise<void> {
    const tasks = [...held()];
    if (tasks.length === 0) return;
    const kept = await frontier.extend(
      tasks.map((task) => task.claim),
      leaseMs,
    );
    tasks.forEach((task, index) => {
      if (kept[index] === false) task.lose(new Error(`lease of task ${task.claim.taskId} is lost`));
    });
  }

  return {
    start: () => {
      loop ??= renewUntilStopped();
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}
